package answer

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/embedded"
)

// maxPicked is how many requests a person is offered to pick from; more are a matter for the console.
const maxPicked = 50

// picked is the request that the person at this terminal picks from those that wait. Answering goes on as if its id had been given:
// it is shown whole and signed.
func picked(p *cli.Program, backend *embedded.Backend, verb string) (string, error) {
	missing := cli.Usage(interlock.Errorf(interlock.CodeInvalid, "ID", "is missing; `interlock pending` lists what waits"))
	if !cli.AtTerminal(p.Stdin) || !cli.AtTerminal(p.Stderr) {
		return "", missing
	}
	requests, err := backend.Requests(p.Ctx, 0)
	if err != nil {
		return "", err
	}
	var waiting []interlock.ApprovalRequest
	for _, r := range newestFirst(requests.Rows) {
		if r.Status == interlock.RequestPending && cli.Now().Before(r.Expires) {
			waiting = append(waiting, r)
		}
	}
	if len(waiting) == 0 {
		return "", interlock.Errorf(interlock.CodeNotFound, "ID", "nothing waits")
	}
	s := &cli.Screen{Program: p, Terminal: true, Colour: p.Coloured()}
	s.Width, _ = cli.SizeOf(p.Stderr)
	shown := min(len(waiting), maxPicked)
	pickTable(waiting[:shown]).Print(s)
	if more := len(waiting) - shown; more > 0 {
		fmt.Fprintf(s, "and %d older ones\n", more)
	}
	if _, err := io.WriteString(p.Stderr, s.String()); err != nil {
		return "", err
	}
	return choose(p.Stdin, p.Stderr, verb, waiting[:shown])
}

// pickTable numbers requests.
func pickTable(waiting []interlock.ApprovalRequest) *cli.Table {
	t := cli.NewTable("#", "AGE", "AGENT*", "ACTION*", "RULE*", "ID")
	at := cli.Now()
	for i, r := range waiting {
		t.Row(strconv.Itoa(i+1), cli.Age(at.Sub(r.Created)), cli.Printable(r.Requester.Agent), cli.Brief(r.Display), cli.OrDash(cli.Printable(r.Rule)), r.ID)
		t.Styled("ACTION", cli.Heading)
	}
	return t
}

// choose asks until a number is given that is in the list. Anything but a number leaves.
func choose(in io.Reader, out io.Writer, verb string, waiting []interlock.ApprovalRequest) (string, error) {
	lines := bufio.NewScanner(&byteByByte{in})
	for {
		fmt.Fprintf(out, "which one to %s, 1 to %d; Enter for none: ", verb, len(waiting))
		if !lines.Scan() {
			return "", interlock.Errorf(interlock.CodeInvalid, "ID", "none was picked")
		}
		text := strings.TrimSpace(lines.Text())
		n, err := strconv.Atoi(text)
		switch {
		case err != nil:
			return "", interlock.Errorf(interlock.CodeInvalid, "ID", "none was picked")
		case n >= 1 && n <= len(waiting):
			return waiting[n-1].ID, nil
		}
		fmt.Fprintf(out, "there is no number %d\n", n)
	}
}

// byteByByte reads no further than it must: what is typed after the answer is for the next one to ask.
type byteByByte struct{ in io.Reader }

func (b *byteByByte) Read(p []byte) (int, error) {
	if len(p) > 1 {
		p = p[:1]
	}
	return b.in.Read(p)
}
