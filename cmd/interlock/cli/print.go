package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/store"
)

// MaxRow is how much of an action or of what an event tells a list shows.
const MaxRow = 72

// OneLine is a text in one line of at most so many characters, made printable.
func OneLine(text string, most int) string {
	return cut(Printable(strings.Join(strings.Fields(text), " ")), most)
}

func OrEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

func WriteLine(w io.Writer, v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encoding the answer: %w", err)
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

// PrintDecision shows a decision to a person.
func PrintDecision(w io.Writer, d interlock.Decision) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s   risk %d, %s\n", strings.ToUpper(d.Verdict.String()), d.Risk, d.Danger)
	for _, f := range d.Findings {
		fmt.Fprintf(&b, "  %-5s %s (layer %s): %s\n", f.Verdict, f.Rule, f.LayerText(), f.Reason)
		if f.Suggestion != "" {
			fmt.Fprintf(&b, "        instead: %s\n", f.Suggestion)
		}
	}
	for _, i := range d.Impacts {
		fmt.Fprintf(&b, "  - %s %s, %s, %s", i.Kind, OrDash(i.Target), i.Reach, i.Reversibility)
		if i.Confidence != interlock.Parsed {
			fmt.Fprintf(&b, ", %s", i.Confidence)
		}
		if i.Via != "" {
			fmt.Fprintf(&b, ", by %s", i.Via)
		}
		if len(i.Traits) > 0 {
			fmt.Fprintf(&b, " [%s]", strings.Join(i.Traits, " "))
		}
		b.WriteString("\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func OrDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// ExitStatus is the contract of `interlock check`.
func ExitStatus(v interlock.Verdict) int {
	switch v {
	case interlock.Allow:
		return 0
	case interlock.Ask:
		return 10
	case interlock.Deny:
		return 20
	default:
		return 30
	}
}

// Plural is a number of things in words.
func Plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}

// maxOpen is how many events of a kind are looked at for what is open.
const maxOpen = 2000

// Newest visits the newest events of a type since a time, newest first.
func Newest(p *Program, log *store.Store, kind interlock.EventType, since time.Time,
	visit func(interlock.Entry, auditlog.Event, []byte) error) error {
	const page = 500
	before := int64(-1)
	for seen := 0; seen < maxOpen; seen += page {
		entries, err := log.Entries(p.Ctx, kind, ledger.Before(before, page))
		if err != nil || len(entries) == 0 {
			return err
		}
		for _, entry := range entries {
			if before = entry.Index; auditlog.Released(&entry) {
				return nil
			}
			event, err := auditlog.ParseEvent(entry.Body)
			if err != nil {
				return err
			}
			if event.Recorded.Before(since) {
				return nil
			}
			if err := visit(entry, event, event.Payload); err != nil {
				return err
			}
		}
	}
	return nil
}

func Day(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.DateOnly)
}

// A Card is what a person is shown to answer: lines of a name and a value, and the action as it is displayed. What an agent
// could have chosen is made printable.
type Card struct {
	strings.Builder
	Width int // of the names
}

func (c *Card) Line(name, value string) {
	if value != "" {
		fmt.Fprintf(c, "%-*s%s\n", c.Width, name, Printable(value))
	}
}

func (c *Card) Display(action string) {
	c.WriteString("\n")
	for _, text := range strings.Split(strings.TrimRight(action, "\n"), "\n") {
		c.WriteString("  | " + Printable(text) + "\n")
	}
	c.WriteString("\n")
}

// Printable spells out every character a terminal would act on or hide.
func Printable(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r == unicode.ReplacementChar || !core.Shows(r) {
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Brief is a display in one short line, for lists only; nobody approves from a list.
func Brief(display string) string {
	head, text, found := strings.Cut(display, "\n\n")
	if !found {
		text = display
	}
	if strings.HasPrefix(text, "{") { // arguments say little without the tool they are for
		if _, rest, named := strings.Cut(head, "\ntool: "); named {
			tool, _, _ := strings.Cut(rest, "\n")
			text = tool + " " + text
		}
	}
	runes := []rune(Printable(strings.Join(strings.Fields(text), " ")))
	if len(runes) > 48 {
		return string(runes[:47]) + "…"
	}
	return string(runes)
}

// Span writes a duration as people say it.
func Span(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < time.Minute:
		return d.Truncate(time.Second).String()
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	default:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
}

func When(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04")
}

func WriteIndented(w io.Writer, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the answer: %w", err)
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

func Indent(text string) string {
	return "          " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n          ") + "\n"
}
