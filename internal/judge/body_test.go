package judge_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"interlock"
	"interlock/internal/judge"
	"interlock/internal/strictjson"
)

// loud are ground rules of this text.
type loud struct {
	grounds
	text string
}

func (l loud) Text() string { return l.text }

// TestBodyIsWrittenInParts: the request whose head and tail were written beforehand is the one that would be written whole, for each wire,
// and the digest in the judgment is that of the bytes that were sent.
func TestBodyIsWrittenInParts(t *testing.T) {
	var sent []byte
	s := server(t, func(w http.ResponseWriter, r *http.Request) {
		sent, _ = io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, chat(allows))
	})
	// whatever JSON writes in another way, and what stands for the question while the rest is written
	rules := "<b> \"L1-1\" & \\ \u2028 \x01 é \x00question\x00 \U0001f600\n"
	for _, wire := range []judge.Wire{judge.WireChat, judge.WireResponses, judge.WireAnthropic, judge.WireCommand} {
		c := config(s.URL)
		c.Wire, c.Ground, c.Nonce = wire, loud{text: rules}, &steps{}
		if wire == judge.WireCommand {
			c.Command = []string{"judge"}
			c.Run = func(_ context.Context, _ []string, stdin []byte, _ int) ([]byte, error) {
				sent = stdin
				return []byte(allows), nil
			}
		}
		j := proved(t, c)
		for _, input := range []string{`{"input":"<a> \" \\ & /"}`, "{\"input\":\"\u00e9\U0001f600\"}", `{"input":""}`} {
			c.Nonce.(*steps).at = 0
			said := j.Ask(t.Context(), interlock.JudgeQuestion{Subject: interlock.JudgeOutput, Payload: []byte(input)})
			fenced, err := judge.Fence(interlock.JudgeQuestion{Subject: interlock.JudgeOutput, Payload: []byte(input)}, &steps{})
			if err != nil {
				t.Fatal(err)
			}
			var whole bytes.Buffer
			writer := json.NewEncoder(&whole)
			writer.SetEscapeHTML(false)
			if err := writer.Encode(judge.Request(j, fenced)); err != nil {
				t.Fatal(err)
			}
			if want := strings.TrimSuffix(whole.String(), "\n"); string(sent) != want {
				t.Errorf("%s\ngot  %s\nwant %s", wire, sent, want)
			}
			if want := strictjson.DigestBytes("interlock/judge-prompt/v1", sent); said.Prompt != want {
				t.Errorf("%s: the digest is %s, want %s", wire, said.Prompt, want)
			}
		}
	}
}
