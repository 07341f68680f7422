package mace

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"interlock/internal/conform"
)

// A Try is one step of a scenario: who does what. REQUEST stands for the newest request, FACT for the newest fact that was kept, and
// KEY:NAME for the file of a public key.
type Try struct {
	By    string // an operator, an agent, clock, or door for the control door
	Words string // a command, or how much time passes

	Path  string          // what is called
	Body  json.RawMessage // of an agent
	Who   string          // whose credential is shown at the control door; empty: its own
	Swap  []string        // what is written otherwise in the signed order that is handed in there
	Holds string          // the try succeeds if the answer holds this
}

// Cheat plays a scenario in the home of that name, which a council governs. What counts is whether the last step was refused: one before it that was is
// an error, because then nothing was tried.
func Cheat(ctx context.Context, d *conform.Driver, home string, tries []Try) (refused bool, said string, err error) {
	t, err := founded(ctx, d, home)
	if err == nil {
		err = t.Agents(ctx, "mole")
	}
	if err != nil {
		return false, "", err
	}
	last := &named{}
	for n, try := range tries {
		refused, said, err = t.try(ctx, try, last)
		if err != nil {
			return false, "", err
		}
		if refused && n < len(tries)-1 {
			return false, "", fmt.Errorf("step %d of %d is refused: %s", n+1, len(tries), said)
		}
		if id := patterns()["request"].FindString(said); id != "" {
			last.request = id
		}
	}
	return refused, said, nil
}

// named is what later steps may name of earlier ones.
type named struct{ request, fact, order string }

func (t town) try(ctx context.Context, try Try, last *named) (refused bool, said string, err error) {
	fill := strings.NewReplacer("REQUEST", last.request, "FACT", last.fact).Replace
	switch {
	case try.By == "clock":
		d, err := time.ParseDuration(try.Words)
		if err != nil {
			return false, "", err
		}
		t.Pass(d)
		return false, "", nil
	case try.By == "door":
		text := last.order
		if len(try.Swap) == 2 {
			text = strings.ReplaceAll(text, try.Swap[0], try.Swap[1])
			if text == last.order {
				return false, "", fmt.Errorf("the signed order holds no %s", try.Swap[0])
			}
		}
		reply := t.Control(ctx, try.Who, http.MethodPost, fill(try.Path), json.RawMessage(text))
		return reply.Status < 200 || reply.Status >= 300, reply.Text, nil
	case try.Path != "":
		reply := t.Call(ctx, try.By, http.MethodPost, try.Path, json.RawMessage(fill(string(try.Body))))
		if try.Holds != "" {
			return !strings.Contains(reply.Text, try.Holds), reply.Text, nil
		}
		if id := reply.Member("id"); id != "" {
			last.fact = id
		}
		outcome := reply.Member("outcome")
		return reply.Status < 200 || reply.Status >= 300 || outcome != "" && outcome != "OK", reply.Text, nil
	}
	words := strings.Fields(fill(try.Words))
	for n, w := range words {
		if name, is := strings.CutPrefix(w, "KEY:"); is {
			if words[n], err = t.PublicKey(name); err != nil {
				return false, "", err
			}
		}
	}
	ended, _ := t.Order(ctx, try.By, words...) // its status says whether it was refused
	if strings.HasSuffix(try.Words, " --signed") {
		last.order = strings.TrimSpace(ended.Out)
	}
	if ended.Code != 0 {
		return true, ended.Err, nil
	}
	return false, ended.Out, nil
}
