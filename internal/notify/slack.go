package notify

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"interlock"
	"interlock/internal/notice"
)

// slackRoom bounds the action in a Slack message, whose text may not be longer than 3,000 characters in one block.
const slackRoom = 2000

// slack posts to an incoming webhook of Slack, or of anything that takes the same message. Anyone who has the address may post,
// so it is a secret.
type slack struct{ *client }

func newSlack(s Settings, c Config) (channel, error) {
	if !isReference(s.URL) {
		return nil, interlock.Errorf(interlock.CodeInvalid, "url", "is a secret here; name it as env:NAME or file:PATH")
	}
	to, err := newClient("url", s.URL, c)
	return slack{to}, err
}

func (s slack) send(ctx context.Context, n notice.Notice) error {
	body, err := json.Marshal(map[string]string{"text": "*" + escaped(headline(n)) + "*\n```\n" + escaped(text(n,
		slackRoom)) + "```"})
	if err != nil {
		return errors.New("the notice can't be written as JSON")
	}
	return s.post(ctx, body, map[string]string{"Content-Type": "application/json"})
}

// escaped keeps what an agent wrote from being read as a mention, a link or the end of the block.
func escaped(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "`", "ˋ", "*", "∗").Replace(s)
}
