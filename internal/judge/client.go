package judge

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"interlock"
	"interlock/internal/strictjson"
)

// A Wire is how a judge is spoken to.
type Wire string

// The wires.
const (
	WireChat      Wire = "openai-chat"      // POST {url}/chat/completions
	WireResponses Wire = "openai-responses" // POST {url}/responses
	WireAnthropic Wire = "anthropic"        // POST {url}/v1/messages
	WireCommand   Wire = "command"          // JSON on standard input, the answer on standard output
)

// What a server may not take, see [Config].
const (
	OmitTemperature = "temperature"
	OmitSeed        = "seed"
	OmitFormat      = "format"
	OmitMaxTokens   = "max_tokens" // of openai-chat: it is called max_completion_tokens
)

// A Runner runs a command behind walls: without network, and with nothing of the environment. It returns at most so many bytes of
// what the command wrote, and an error if there were more or the command failed.
type Runner func(ctx context.Context, argv []string, stdin []byte, most int) ([]byte, error)

// Config is one judge.
type Config struct {
	Name      string
	Wire      Wire
	URL       string   // of all wires but command
	Command   []string // of command
	Run       Runner   // of command
	Model     string
	AnswersAs string                 // the model that answers name; empty: Model
	Key       func() (string, error) // nil: none is shown
	Seed      int64
	Omit      []string

	Timeout    time.Duration
	MaxPayload int // bytes of a question; longer ones are for people
	MaxTokens  int // of an answer
	Context    int // tokens that the model's context window holds; 0: it is not watched
	InFlight   int // questions at once
	Waiting    int // and how many wait

	Roots *x509.CertPool // nil: those of the system
	Proxy *url.URL       // nil: none, whatever the environment says
	Price Price

	Ground Ground
	Canary Canary
	Nonce  io.Reader
	Now    func() time.Time
}

// attempts is how often a question is sent at most: once more where the connection broke before a byte of an answer.
const attempts = 2

// A Client is a judge. It holds nothing of any question, but counts how questions went.
type Client struct {
	config   Config
	form     form
	http     *http.Client
	body     body
	identity interlock.JudgeIdentity
	queue    *queue
	breaker  breaker
	proof    proof
	nonce    sync.Mutex
}

var _ interlock.Judge = (*Client)(nil)

// New returns the client of a judge, or says which of its settings is wrong.
func New(c Config) (*Client, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	j := &Client{config: c, queue: newQueue(c.InFlight, c.Waiting), proof: newProof()}
	switch c.Wire {
	case WireChat:
		j.form = chatForm{}
	case WireResponses:
		j.form = responsesForm{}
	case WireAnthropic:
		j.form = anthropicForm{}
	default:
		j.form = commandForm{}
	}
	var err error
	if j.body, err = newBody(c, j.form, prefix(c.Ground)); err != nil {
		return nil, err
	}
	j.http = newHTTP(c)
	j.identity = interlock.JudgeIdentity{Name: c.Name, Model: c.pinned(), GroundRules: c.Ground.Digest()}
	return j, nil
}

// pinned is the model with everything else that an answer depends on beside question and rules.
func (c Config) pinned() string {
	at := "command " + strings.Join(c.Command, " ")
	if u, err := url.Parse(c.URL); err == nil && c.Wire != WireCommand {
		at = u.Host
	}
	said := c.Model + " at " + at + " (" + string(c.Wire) + ", temperature 0, seed " + strconv.FormatInt(c.Seed, 10) + ", " +
		strconv.Itoa(c.MaxTokens) + " tokens, prompt " + promptVersion
	if len(c.Omit) > 0 {
		said += ", without " + strings.Join(c.Omit, " ")
	}
	return said + ")"
}

// Identity is what the judge's answers depend on beside the question.
func (c *Client) Identity() interlock.JudgeIdentity { return c.identity }

// Ask asks about one thing. Whatever goes wrong is a denial that says so.
func (c *Client) Ask(ctx context.Context, q interlock.JudgeQuestion) interlock.Judgment {
	start := c.config.Now()
	ctx, cancel := context.WithTimeout(ctx, c.config.Timeout)
	defer cancel()
	j := c.ask(ctx, q)
	return c.signed(j, start)
}

// signed is a judgment with who made it and how long that took.
func (c *Client) signed(j interlock.Judgment, start time.Time) interlock.Judgment {
	j.Judge, j.Model, j.GroundRules = c.config.Name, c.identity.Model, c.identity.GroundRules
	j.Micros = max(c.config.Now().Sub(start).Microseconds(), 0)
	if j.Cost > 0 {
		j.Currency = c.config.Price.Currency
	}
	return j
}

func failed(f interlock.JudgeFailure, reason string) interlock.Judgment {
	return interlock.Judgment{Verdict: interlock.Deny, Failure: f, Reason: reason}
}

func (c *Client) ask(ctx context.Context, q interlock.JudgeQuestion) interlock.Judgment {
	body, refused := c.written(q)
	if refused.Failure != "" {
		return refused
	}
	if failure := c.queue.enter(ctx); failure != "" {
		return failed(failure, "too many questions wait for the judge")
	}
	defer c.queue.leave()
	if refused, proved := c.proved(ctx); !proved {
		return refused
	}
	probe, may := c.breaker.enter(c.config.Now())
	if !may {
		return failed(interlock.JudgeBreaker, "the judge failed too often and is not asked for a while")
	}
	j := c.send(ctx, body)
	c.breaker.leave(c.config.Now(), probe, outcome(ctx, j))
	return j
}

// outcome is how a question went: an answer that is none counts like an outage, a caller who gave up does not.
func outcome(ctx context.Context, j interlock.Judgment) went {
	switch {
	case j.Failure == "":
		return wentWell
	case errors.Is(ctx.Err(), context.Canceled):
		return wentNeither
	}
	return wentWrong
}

// written is the body for a question, or why there is none.
func (c *Client) written(q interlock.JudgeQuestion) ([]byte, interlock.Judgment) {
	if len(q.Payload) > c.config.MaxPayload {
		return nil, failed(interlock.JudgeTooLong, "the question has "+strconv.Itoa(len(q.Payload))+" bytes, at most "+
			strconv.Itoa(c.config.MaxPayload)+" are judged")
	}
	c.nonce.Lock() // a reader of randomness need not be safe for many
	body, err := c.request(q, c.config.Nonce)
	c.nonce.Unlock()
	if err != nil {
		return nil, failed(interlock.JudgeUnavailable, err.Error()+", so it was not sent")
	}
	return body, interlock.Judgment{}
}

func (c *Client) request(q interlock.JudgeQuestion, random io.Reader) ([]byte, error) {
	if len(q.Payload) > c.config.MaxPayload {
		return nil, errors.New("the question is too long")
	}
	question, err := fence(q, random)
	if err != nil {
		return nil, err
	}
	return c.body.with(question)
}

// send sends what was written, once more if the connection broke before an answer began, and reads the answer.
func (c *Client) send(ctx context.Context, body []byte) interlock.Judgment {
	var spent int64
	for left := attempts; ; {
		left--
		r := c.form.exchange(ctx, c, body)
		if r.failure.Failure != "" && r.again && left > 0 && ctx.Err() == nil {
			if r.sent {
				spent += c.largest(len(body))
			}
			continue
		}
		j := c.read(r)
		if r.sent && !j.used.plausible() {
			spent += c.largest(len(body)) // nobody knows what it was charged, so it counts as the most
		} else if r.sent {
			spent += c.config.Price.cost(j.used)
			j.TokensIn, j.TokensOut = j.used.tokensIn(), j.used.out
		}
		j.Judgment.Context = c.filled(j.used, len(body))
		j.Cost = spent
		j.Prompt = c.body.digestOf(body)
		return j.Judgment
	}
}

// bytesPerToken is what a token is taken for where a server does not count: fewer bytes than texts have, so that it errs towards full.
const bytesPerToken = 3

// filled is how much of the model's own context window a question and its answer took, in percent. No question leaves anything behind for
// the next, so that it is the whole of what the window holds (EC-2.17).
func (c *Client) filled(used usage, sent int) int {
	if c.config.Context <= 0 {
		return 0
	}
	tokens := int64(sent/bytesPerToken + c.config.MaxTokens)
	if used.plausible() {
		tokens = used.tokensIn() + used.out
	}
	return int(min(tokens*100/int64(c.config.Context), 100))
}

// The domains of the digests that stand in a judgment.
const (
	promptDomain   = "interlock/judge-prompt/v1"
	responseDomain = "interlock/judge-response/v1"
)

// A charged is a judgment with what it used.
type charged struct {
	interlock.Judgment
	used usage
}

// read makes a judgment of what came back.
func (c *Client) read(r reply) charged {
	if r.failure.Failure != "" {
		j := charged{Judgment: r.failure}
		if len(r.body) > 0 {
			j.Response = strictjson.DigestBytes(responseDomain, r.body)
		}
		if r.free {
			j.used.known = true
		}
		return j
	}
	response := strictjson.DigestBytes(responseDomain, r.body)
	said, err := c.form.read(r.body)
	j := charged{used: said.used}
	if err == nil && said.model != "" && said.model != c.config.answersAs() {
		err = errors.New("another model answered than the one that is pinned; if the server only calls it otherwise, set answers_as")
	}
	if err == nil {
		j.Judgment, err = parseAnswer(said.text, c.config.Ground)
	}
	if err != nil {
		j.Judgment = failed(interlock.JudgeMalformed, err.Error())
	}
	j.Response = response
	return j
}

func (c Config) answersAs() string {
	if c.AnswersAs != "" {
		return c.AnswersAs
	}
	return c.Model
}
