package aql

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"interlock/internal/conform"
	"interlock/internal/fileio"
)

func codeChecks() []conform.Check {
	return []conform.Check{
		{IDs: []string{"AQL-8.8.2a"}, Drives: "operators' commands, MCP", Do: codeForm},
		{IDs: []string{"AQL-8.8.2b"}, Drives: "everything that an agent is told, the log, the home's files", Do: codeHidden},
		{IDs: []string{"AQL-8.8.2c"}, Drives: "MCP, operators' commands, clock", Do: codeOnce},
		{IDs: []string{"AQL-8.8.2e"}, Drives: "MCP, clock, settings", Do: codeTime},
		{IDs: []string{"AQL-8.8.6"}, Drives: "a webhook of the check's own", Do: codeChannel},
	}
}

// afterCode is when a code of five minutes counts no more.
const afterCode = 5*time.Minute + time.Second

var (
	uuid = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	})
	codeLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^(?:[0-9A-Z]{4}-){7}[0-9A-Z]{4}$`) })
	codeText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:[0-9A-Z]{4}-){7}[0-9A-Z]{4}$`) })
)

// maxFile bounds what is read of a home's files.
const maxFile = 256 << 20

func codeForm(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := clocked(ctx, d)
	if err != nil {
		return "", err
	}
	c := connect(ctx, h, "coded")
	defer c.Close()
	var w wrong
	id := challenge(acts(c, disaster))
	w.unless(uuid().MatchString(id), "the challenge is %q", id)
	seen, symbols, columns := map[string]bool{}, map[rune]int{}, [32]map[rune]bool{}
	const drawn = 12
	for range drawn {
		shown, err := code(ctx, h, id)
		w.error(err)
		w.unless(codeText().MatchString(shown) && !seen[shown], "a code has another form, or was there before")
		seen[shown] = true
		for n, r := range []rune(strings.ReplaceAll(shown, "-", "")) {
			symbols[r]++
			if n < len(columns) {
				if columns[n] == nil {
					columns[n] = map[rune]bool{}
				}
				columns[n][r] = true
			}
		}
	}
	constant := 0
	for _, c := range columns {
		if len(c) < 4 { // of twelve that are drawn from 32
			constant++
		}
	}
	w.unless(len(symbols) >= 24, "%d codes are made of %d symbols", drawn, len(symbols))
	w.unless(constant == 0, "%d of 32 places hardly change", constant)
	return fmt.Sprintf("32 places of %d symbols seen in %d codes, all of which change, so well over 128 bits, for a challenge that is a UUID", len(symbols), drawn), w.err()
}

func codeHidden(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := plain(ctx, d)
	if err != nil {
		return "", err
	}
	c := connect(ctx, h, "hidden")
	var w wrong
	var said strings.Builder
	hear := func(r conform.Reply) conform.Reply {
		said.WriteString(r.Text)
		return r
	}
	id := challenge(hear(acts(c, dangerous)))
	shown, err := code(ctx, h, id)
	w.error(err)
	w.unless(codeText().MatchString(shown), "there is no code to look for")
	hear(step(c, "task", harmless))
	hear(begin(c, "other"))
	hear(do(c, "introspect", params{"query": "operations"}))
	hear(do(c, "confirm_operation", params{"request_id": id}))
	hear(verify(c, id, shown[:8]))
	hear(verify(c, id, shown))
	hear(verify(c, "no challenge", shown))
	c.Close()
	said.WriteString(c.Diagnostics())
	for _, args := range [][]string{{"audit", "list", "--json"}, {"block", "list", "--json"}, {"pending", "--json"}, {"audit",
		"export"}} {
		out := h.CLI(ctx, "", args...)
		said.WriteString(out.Out + out.Err)
	}
	bare := strings.ReplaceAll(shown, "-", "")
	text := said.String()
	w.unless(len(text) > 10000, "there was nothing to look through")
	forms := [][]byte{[]byte(shown), []byte(bare), []byte(strings.ToLower(shown)), []byte(strings.ToLower(bare)),
		[]byte(hex.EncodeToString([]byte(bare)))}
	for _, form := range forms {
		w.unless(!strings.Contains(text, string(form)), "the code is in an answer, an error, the log or what was written besides")
	}
	files := 0
	w.error(fs.WalkDir(os.DirFS(h.Home), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		text, err := fileio.Plain(filepath.Join(h.Home, path), maxFile)
		for _, form := range forms {
			w.unless(!bytes.Contains(text, form), "the code is in the file %s", path)
		}
		files++
		return err
	}))
	return fmt.Sprintf("it is in none of the answers to eight calls, right and wrong codes included, in no log or list, and in none of %d files", files), w.err()
}

func codeOnce(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := clocked(ctx, d)
	if err != nil {
		return "", err
	}
	var w wrong
	fresh := func(agent string) (c client, id, shown string) {
		c = connect(ctx, h, agent)
		id = challenge(acts(c, disaster))
		shown, err := code(ctx, h, id)
		w.error(err)
		return c, id, shown
	}
	c, id, shown := fresh("once")
	w.unless(verify(c, id, strings.ToLower(shown)).Member("data.unblocked") == "true", "the right code is refused")
	next := challenge(step(c, "task", disaster))
	w.unless(verify(c, id, shown).Member("success") == "false" && verify(c, next, shown).Member("success") == "false",
		"a code counts twice")
	w.unless(stops(step(c, "task", harmless)), "the agent goes on by a code that was used")
	c.Close()
	c, id, shown = fresh("burnt")
	other := shown[:len(shown)-1] + map[bool]string{true: "1", false: "0"}[strings.HasSuffix(shown, "0")]
	w.unless(verify(c, id, other).Member("success") == "false", "a wrong code is right")
	w.unless(verify(c, id, shown).Member("success") == "false" && stops(step(c, "task", harmless)),
		"a wrong code does not burn the right one")
	again, err := code(ctx, h, id)
	w.error(err)
	w.unless(again != shown && verify(c, id, again).Member("data.unblocked") == "true", "a fresh code is refused")
	c.Close()
	c, id, shown = fresh("late")
	h.Pass(afterCode)
	late := verify(c, id, shown)
	w.unless(late.Member("success") == "false" && late.Member("error.details.failed_attempts") == "1" && stops(step(c, "task",
		harmless)),
		"a late code: %s", late.Text)
	c.Close()
	return "a code counts once, a wrong one burns the right one, a late one is a failed attempt", w.err()
}

func codeTime(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := clocked(ctx, d)
	if err != nil {
		return "", err
	}
	set, err := d.House(ctx, conform.Plan{Name: "aql-brief", Clocked: true,
		Settings: "code_ttl: 1m\nmcp_token_ttl: 2m\nmcp_clock_tolerance: 5m\n"})
	if err != nil {
		return "", err
	}
	var w wrong
	for _, tc := range []struct {
		h      *conform.House
		after  time.Duration
		passes bool
	}{{h, 4*time.Minute + 50*time.Second, true}, {h, 5*time.Minute + time.Second, false}, {set, 50 * time.Second, true}, {set,
		61 * time.Second, false}} {
		c := connect(ctx, tc.h, "timed-"+tc.after.String())
		id := challenge(acts(c, disaster))
		shown, err := code(ctx, tc.h, id)
		w.error(err)
		tc.h.Pass(tc.after)
		r := verify(c, id, shown)
		w.unless((r.Member("data.verified") == "true") == tc.passes, "after %s: %s", tc.after, r.Text)
		c.Close()
	}
	return "a code counts for five minutes, and for one where code_ttl says so", w.err()
}

// A receiver is the end of a webhook.
type receiver struct {
	mu     sync.Mutex
	key    string
	bodies []string
	forged int // whose signature is another than its key makes
}

// ServeHTTP keeps what is sent.
func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(io.LimitReader(q.Body, 1<<20))
	if err != nil {
		http.Error(w, "unreadable", http.StatusBadRequest)
		return
	}
	mac := hmac.New(sha256.New, []byte(r.key))
	mac.Write([]byte(q.Header.Get("Interlock-Timestamp") + "." + string(body)))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bodies = append(r.bodies, string(body))
	if q.Header.Get("Interlock-Signature") != "v1="+hex.EncodeToString(mac.Sum(nil)) {
		r.forged++
	}
}

func (r *receiver) received() (bodies []string, forged int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.bodies), r.forged
}

func codeChannel(ctx context.Context, d *conform.Driver) (string, error) {
	hook := &receiver{key: rand.Text()}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("listening on loopback: %w", err)
	}
	server := &http.Server{Handler: hook, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }() // it ends with the check
	defer server.Close()
	file, err := os.CreateTemp("", "ilk-key-")
	if err != nil {
		return "", fmt.Errorf("making a key: %w", err)
	}
	defer os.Remove(file.Name())
	_, err = file.WriteString(hook.key)
	if err = errors.Join(err, file.Close()); err != nil {
		return "", fmt.Errorf("making a key: %w", err)
	}
	h, err := d.House(ctx, conform.Plan{Name: "aql-channel", Settings: fmt.Sprintf("channels: [{kind: webhook, url: %q, key: %q}]\n",
		"http://"+listener.Addr().String(), "file:"+file.Name())})
	if err != nil {
		return "", err
	}
	defer h.Down() // its channel ends with the check
	c := connect(ctx, h, "told")
	defer c.Close()
	var w wrong
	r := acts(c, disaster)
	var notice struct{ Challenge, Code, Agent string }
	bodies, forged := hook.received()
	for _, body := range bodies {
		if err := json.Unmarshal([]byte(body), &notice); err == nil && notice.Challenge == challenge(r) {
			break
		}
	}
	w.unless(notice.Challenge != "" && notice.Challenge == challenge(r) && codeText().MatchString(notice.Code) &&
		notice.Agent == "told" && forged == 0,
		"of %d messages to the channel, %d with a wrong signature, none holds a code for %s", len(bodies), forged, challenge(r))
	w.unless(notice.Code != "" && !strings.Contains(r.Text, notice.Code), "the agent is told the code")
	w.unless(verify(c, challenge(r), notice.Code).Member("data.unblocked") == "true", "the code that was sent is refused")
	return "a webhook was sent the code with its challenge, signed; the agent was not, and the code counted", w.err()
}
