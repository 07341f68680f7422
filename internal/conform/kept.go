package conform

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"interlock/internal/fileio"
)

func keptChecks() []Check {
	return []Check{
		{IDs: []string{"EC-L-3"}, Drives: "every door, interlock audit export", Do: accountable},
		{IDs: []string{"EC-L-4"}, Drives: "HTTP API, hook", Do: logUnread},
		{IDs: []string{"EC-ENV-1"}, Drives: "gateway before a server of the check's own that counts", Do: schemaMet},
		{IDs: []string{"EC-ENV-24"}, Drives: "kill commands, clock, interlock audit archive", Do: evidenceOfAStop},
	}
}

func accountable(ctx context.Context, d *Driver) (string, error) {
	h, err := phased(ctx, d, "accountable", 2, "builder")
	if err != nil {
		return "", err
	}
	if err := First(h.Agent(ctx, "clerk", "--principal", "dana"), h.Agent(ctx, "meter", "--observer"), h.Operator(ctx, "olga",
		"admin")); err != nil {
		return "", err
	}
	run, err := h.begin(ctx, "clerk", map[string]any{"task": "look"})
	if err != nil {
		return "", err
	}
	_, reads := h.Expect(ctx, "clerk", Shell("ls").In(run), "allow")
	beats := h.beat(ctx, "clerk")
	h.end(ctx, "clerk", run, map[string]any{"status": "completed"})
	asked, asks := h.Expect(ctx, "builder", Shell(productionWrite), "ask")
	_, yes := h.Order(ctx, "olga", "approve", asked.Request)
	h.Decide(ctx, "builder", Shell(productionWrite))
	blocks := refusals(ctx, h, "builder", 3)
	h.Hook(ctx, "claude", "t1", "touch a")
	h.signal(ctx, "meter", "drift", "clerk", 70)
	_, drill := h.Order(ctx, "ada", "kill", "drill", "--reason", "the yearly one")
	if err := First(reads, beats, asks, yes, blocks, drill); err != nil {
		return "", err
	}
	records, kinds, nobody := 0, map[string]bool{}, map[string]bool{}
	for _, line := range strings.Split(strings.TrimSpace(h.CLI(ctx, "", "audit", "export").Out), "\n") {
		records++
		event := Reply{Text: line}
		kind := event.Member("event.event_type")
		kinds[kind] = true
		if event.Member("event.payload.accountable_human") == "" {
			nobody[kind] = true
		}
	}
	clerks := h.Events(ctx, "DECISION")
	return fmt.Sprintf("each of %d records of %d types names a human who answers for it", records, len(kinds)), First(
		Unless(records > 20 && len(kinds) > 8, "only %d records of %d types were made", records, len(kinds)),
		Unless(len(nobody) == 0, "nobody answers for records of %v", nobody),
		Unless(strings.Contains(clerks, `"accountable_human":"dana"`), "whoever the clerk acts for is not named"))
}

func logUnread(ctx context.Context, d *Driver) (string, error) {
	h, err := d.House(ctx, Plan{Name: "unread", Clocked: true, Rules: "maso: {tier: 1}\n"})
	if err != nil {
		return "", err
	}
	free, err := d.House(ctx, Plan{Name: "untiered", Clocked: true})
	if err != nil {
		return "", err
	}
	if err := First(h.Agents(ctx, "builder", "reader", "asker"), free.Agents(ctx, "builder")); err != nil {
		return "", err
	}
	const rule = "self.read-log"
	refuses := func(h *House, a Action) bool {
		return strings.Contains(h.Decide(ctx, "builder", a).Text, rule)
	}
	store := filepath.Join(h.Home, "interlock.db")
	for n, action := range []Action{Shell("interlock audit list"), Shell("interlock audit show e1"), Shell("cat " + store),
		Tool("read_file", map[string]any{"path": store})} {
		agent := []string{"builder", "reader"}[n/2] // an agent that is refused three times is stopped
		if got := h.Decide(ctx, agent, action); got.Verdict != "deny" || !strings.Contains(got.Text, rule) {
			return "", fmt.Errorf("%v is answered %s by %s", action, got.Verdict, got.Rule)
		}
	}
	hook, _ := h.Hook(ctx, "claude", "t1", "interlock audit list")
	for _, command := range []string{"interlock audit verify", "ls " + h.Home} {
		if _, err := h.Expect(ctx, "asker", Shell(command), "allow"); err != nil {
			return "", err
		}
	}
	return "an agent's commands and file tools that would read the log are denied by the API and by the hook, asking whether " +
			"it is whole and listing " +
			"the directory pass; without a tier that rule denies nothing", First(
			Unless(hook == "deny", "the hook answers %s", hook),
			Unless(!refuses(free, Shell("interlock audit list")) && !refuses(free, Shell("cat "+filepath.Join(free.Home,
				"interlock.db"))),
				"without a tier reading is denied by it as well"))
}

func schemaMet(ctx context.Context, d *Driver) (string, error) {
	t, err := serveTools()
	if err != nil {
		return "", err
	}
	defer t.close()
	h, err := d.House(ctx, Plan{Name: "schema", Rules: "maso: {tier: 1}\n",
		Settings: "gateway: {trust_on_first_use: true, servers: [{name: pages, url: \"" + t.url() + "\"}]}\n"})
	if err != nil {
		return "", err
	}
	call := func(id int, arguments any) string {
		text, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": map[string]any{
			"name": "pages.read_page", "arguments": arguments}}) // texts and numbers only
		return string(text)
	}
	replies := h.through(ctx, hello, toolCall(2, "read_page", "heron"), call(3, map[string]any{"what": 5}), call(4,
		map[string]any{"what": nil}),
		call(5, map[string]any{"what": "heron", "also": "pelican-secret"}), call(6, []string{"heron"}), toolCall(7, "read_page",
			"egret"))
	for _, id := range []string{"3", "4", "5", "6"} {
		if answer := replies[id].Text; answer == "" || strings.Contains(answer, "done read_page") || strings.Contains(answer,
			"pelican-secret") {
			return "", fmt.Errorf("arguments that the schema does not let in are answered %s", answer)
		}
	}
	return "a number and null for a text, a member that nobody named and a list are each refused before they reach the " +
			"server and repeated to nobody; " +
			"what fits the schema passes before and after them", First(
			Unless(strings.Contains(replies["3"].Text, "don't meet the tool's schema"), "it is refused for %s", replies["3"].Text),
			Unless(strings.Contains(replies["2"].Text, "done read_page") && strings.Contains(replies["7"].Text, "done read_page"),
				"what fits does not pass: %s, %s", replies["2"].Text, replies["7"].Text),
			Unless(t.reached("read_page") == 2, "the server was reached %d times", t.reached("read_page")))
}

// ofStop is the member of a stop's event that names what stood then.
var ofStop = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"snapshot":"sha256:[0-9a-f]{64}`)
})

func evidenceOfAStop(ctx context.Context, d *Driver) (string, error) {
	h, err := d.House(ctx, Plan{Name: "evidence", Clocked: true, Ago: 100 * 24 * time.Hour, Rules: "maso: {tier: 1}\n"})
	if err != nil {
		return "", err
	}
	if err := h.Agents(ctx, "builder"); err != nil {
		return "", err
	}
	asked, err := h.Expect(ctx, "builder", Shell("git push --force origin main"), "ask")
	if err != nil {
		return "", err
	}
	run, err := h.begin(ctx, "builder", map[string]any{"task": "look"})
	if err != nil {
		return "", err
	}
	if _, err := h.Order(ctx, "ada", "kill", "--reason", "the fraud desk called"); err != nil {
		return "", err
	}
	_, named, _ := strings.Cut(ofStop().FindString(h.Events(ctx, "KILL_SWITCH")), `:"`)
	if _, err := h.Order(ctx, "ada", "kill", "release", "--reason", "a false alarm"); err != nil {
		return "", err
	}
	drill, err := h.Order(ctx, "ada", "kill", "drill", "--reason", "the yearly one")
	if err != nil {
		return "", err
	}
	goesOn := h.Decide(ctx, "builder", Shell("ls"))
	if _, err := h.Order(ctx, "ada", "deny", asked.Request, "--reason", "no"); err != nil { // what is open is not archived
		return "", err
	}
	text, err := h.archived(ctx, named)
	if err != nil {
		return "", err
	}
	sound := h.CLI(ctx, "", "audit", "verify")
	digest := fmt.Sprintf("sha256:%x", sha256.Sum256(append([]byte("interlock/blob/v1\n"), text...)))
	return "the event of a stop names by digest what stood then: the question that waited and the run that was open; the " +
			"archive of the log holds that " +
			"text, unchanged; a drill stops everything and lets it go on", First(
			Unless(digest == named, "the event names %q, and the text that is kept under that is %q", named, digest),
			Unless(bytes.Contains(text, []byte(asked.Request)) && bytes.Contains(text, []byte(run)), "kept is %s", text),
			Unless(sound.Code == 0, "the log does not verify: %s", sound.Out+sound.Err),
			Unless(strings.Contains(drill.Out, "stopped"), "the drill says %s", drill.Out),
			Unless(goesOn.Answer == "allow", "after the drill an action is answered %s", goesOn.Answer))
}

// archived is a text of the log by its digest, read from an archive of all that is old enough.
func (h *House) archived(ctx context.Context, digest string) ([]byte, error) {
	h.reads(ctx, "builder", 264) // an archive is of 256 entries at least
	h.Pass(h.plan.Ago)
	to := filepath.Join(filepath.Dir(h.Home), "archive")
	if said := h.CLI(ctx, "", "audit", "archive", "--before", "80h", "--to", to); said.Code != 0 {
		return nil, fmt.Errorf("nothing can be archived: %s", said.Out+said.Err)
	}
	files, err := filepath.Glob(filepath.Join(to, "blobs", "*.jsonl.gz"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		packed, err := fileio.Plain(file, maxFile)
		if err != nil {
			return nil, err
		}
		plain, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			return nil, err
		}
		lines := bufio.NewScanner(plain)
		lines.Buffer(nil, maxFile)
		for lines.Scan() {
			var line struct {
				Blob string
				Text []byte
			}
			if json.Unmarshal(lines.Bytes(), &line) == nil && line.Blob == digest {
				return line.Text, nil
			}
		}
	}
	return nil, fmt.Errorf("the archive holds nothing under %q", digest)
}
