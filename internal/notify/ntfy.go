package notify

import (
	"context"

	"interlock"
	"interlock/internal/notice"
)

// ntfyRoom bounds the action in an ntfy message, which may not be longer than 4,096 bytes; more would become a file.
const ntfyRoom = 2000

// ntfy publishes to a topic of ntfy.sh or of an own server.
type ntfy struct {
	*client
	token notice.Secret
}

func newNtfy(s Settings, c Config) (channel, error) {
	to, err := newClient("url", s.URL, c)
	if err != nil {
		return nil, err
	}
	made := ntfy{client: to}
	if s.Token != "" {
		made.token, err = secret("token", s.Token, c.Getenv)
	}
	return made, err
}

func (t ntfy) send(ctx context.Context, n notice.Notice) error {
	header := map[string]string{"Content-Type": "text/plain; charset=utf-8", "Title": ascii(headline(n)), "Tags": "warning",
		"Priority": "high", "Cache": "no"} // Cache: the code is not kept on the server
	if n.Severity >= interlock.TierDangerZone {
		header["Priority"] = "urgent"
	}
	if t.token != "" {
		header["Authorization"] = "Bearer " + t.token.Reveal()
	}
	return t.post(ctx, []byte(text(n, ntfyRoom)), header)
}

// ascii replaces what a header can't carry.
func ascii(s string) string {
	out := []rune(s)
	for i, r := range out {
		if r < ' ' || r > '~' {
			out[i] = '?'
		}
	}
	return string(out)
}
