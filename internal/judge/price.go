package judge

import "interlock"

// A Price is what a provider takes, in millionths of one unit of the currency for a million tokens: 150_000 is 0.15 USD. Zero is free.
type Price struct {
	In, Out  int64
	Cached   int64 // of what the provider had kept of an earlier question's prefix
	Currency string
}

// The bounds of prices and usage, within which no sum overflows.
const (
	MaxPrice  = 10_000 * 1_000_000 // ten thousand units for a million tokens
	maxTokens = 100_000_000
)

// A usage is how many tokens an answer says were used. What is not known is not zero.
type usage struct {
	in, cached, written, out int64 // written: to the provider's cache, at a quarter more
	known                    bool
}

// plausible reports whether a usage can be charged as it is.
func (u usage) plausible() bool {
	for _, n := range []int64{u.in, u.cached, u.written, u.out} {
		if n < 0 || n > maxTokens {
			return false
		}
	}
	return u.known
}

func (u usage) tokensIn() int64 { return u.in + u.cached + u.written }

// cost is what a usage costs, in millionths of one unit, rounded up.
func (p Price) cost(u usage) int64 {
	const million = 1_000_000
	return up(u.in*p.In, million) + up(u.cached*p.Cached, million) + up(u.written*p.In, million*4/5) + up(u.out*p.Out, million)
}

func up(n, by int64) int64 { return (n + by - 1) / by }

// largest is the most that one attempt can cost: no token is shorter than a byte of what is sent.
func (c *Client) largest(sent int) int64 {
	u := usage{in: int64(sent), out: int64(c.config.MaxTokens)}
	if c.form.caches() {
		u.in, u.written = 0, u.in
	}
	return c.config.Price.cost(u)
}

// Price is the most that asking a question can cost, in millionths of one unit of the currency, with a second attempt after a broken
// connection: the first may have been charged all the same. What a canary costs is in its [Trial].
func (c *Client) Price(q interlock.JudgeQuestion) (most int64, currency string) {
	body, err := c.request(q, zeros{})
	if err != nil { // it is not sent
		return 0, c.config.Price.Currency
	}
	return attempts * c.largest(len(body)), c.config.Price.Currency
}

// zeros stand for a nonce where only its length counts.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
