package admission_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/notice"
	"interlock/spec"
)

// TestConfirmTakesNoWord: an agent can't say yes for itself; a code a human has, or a human's answer, is what confirms.
func TestConfirmTakesNoWord(t *testing.T) {
	spec.Covers(t, "AQL-8.7.3s")
	h, told := guarded(t)
	first := h.propose("publish notes", step)
	me := interlock.Requester{Agent: "claude", Principal: "alice"}
	if _, err := h.Confirm(t.Context(), me, first.Request, ""); codeOf(err) != interlock.CodeUnauthorized {
		t.Errorf("its own word: %v", err)
	}
	types := h.entries()
	if last := types[len(types)-1]; last != interlock.EventApprovalRefused || len(h.alerts) == 0 {
		t.Errorf("the log ends in %s, alerts %v", last, h.alerts)
	}
	if _, err := h.Confirm(t.Context(), interlock.Requester{Agent: "codex", Principal: "alice"}, first.Request,
		told.code(t)); codeOf(err) != interlock.CodeNotFound {
		t.Errorf("another agent: %v", err)
	}
	got, err := h.Confirm(t.Context(), me, first.Request, told.code(t))
	if err != nil || got.Status != interlock.RequestApproved {
		t.Errorf("with the code: %s, %v", got.Status, err)
	}
	if got, err := h.Confirm(t.Context(), me, first.Request, ""); err != nil || got.Status != interlock.RequestApproved {
		t.Errorf("afterwards: %s, %v", got.Status, err)
	}
	second := h.propose("git push --force origin feature", step)
	if _, err := h.Confirm(t.Context(), me, second.Request, told.code(t)); codeOf(err) != interlock.CodeUnauthorized {
		t.Errorf("a code for a request that waits for none: %v", err)
	}
	if err := h.approve(second.Request, interlock.Deny); err != nil {
		t.Fatal(err)
	}
	if got, err := h.Confirm(t.Context(), me, second.Request, ""); err != nil || got.Status != interlock.RequestDenied {
		t.Errorf("denied: %s, %v", got.Status, err)
	}
	h.entries()
}

func codeOf(err error) interlock.Code {
	if e, ok := err.(*interlock.Error); ok {
		return e.Code
	}
	return ""
}

// TestOrders: who may have a code shown, who may lift a block, and that an order counts once.
func TestOrders(t *testing.T) {
	h, told, first := blocked(t)
	h.employ("olga", "operator")
	h.employ("ada", "admin")
	ctx := t.Context()
	h.now = h.now.Add(time.Second)
	order := h.order(interlock.VerbNewCode, first.Challenge, "olga")
	code, expires, err := h.NewCode(ctx, order)
	if err != nil || !expires.Equal(h.now.Add(5*time.Minute)) || code == told.code(t) {
		t.Fatalf("a new code until %v: %v", expires, err)
	}
	if len(told.notices) != 1 {
		t.Error("a code that was shown to an operator went to a channel as well")
	}
	if _, _, err := h.NewCode(ctx, order); codeOf(err) != interlock.CodeConflict {
		t.Errorf("the same order again: %v", err)
	}
	for name, o := range map[string]interlock.Order{
		"an unsigned order": func() interlock.Order {
			o := h.order(interlock.VerbNewCode, first.Challenge, "olga")
			o.Signature = ""
			return o
		}(),
		"an operator who unblocks":    h.order(interlock.VerbUnblock, first.Challenge, "olga"),
		"an order for something else": h.order(interlock.VerbNewCode, first.Challenge, "ada"),
		"nobody":                      h.order(interlock.VerbUnblock, first.Challenge, "claude"),
		"a challenge that is none":    h.order(interlock.VerbUnblock, "none", "ada"),
	} {
		before := len(h.entries())
		if _, err := h.Unblock(ctx, o); err == nil {
			t.Errorf("%s counted", name)
		}
		if diff := cmp.Diff([]interlock.EventType{interlock.EventApprovalRefused}, h.entries()[before:]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if v := h.verifies("claude", first.Challenge, told.code(t)); v.Result != "wrong" {
		t.Errorf("the replaced code: %+v", v)
	}
	if _, err := h.Unblock(ctx, h.order(interlock.VerbUnblock, first.Challenge, "ada")); err != nil {
		t.Fatal(err)
	}
	if free := h.propose("git status"); free.Answer != interlock.Allow {
		t.Errorf("afterwards: %v", free.Answer)
	}
	body := ""
	for _, e := range h.log() {
		if e.Type == interlock.EventUnblocked {
			body = string(e.Body)
		}
	}
	if !strings.Contains(body, `"by":"ada"`) || !strings.Contains(body, "Interlock order, version 1") {
		t.Errorf("the log does not say who lifted it, with the proof: %s", body)
	}
}

// TestBlockComesBeforeRepeating: a call that was let through a moment ago is not, when another of its events asks again.
func TestBlockComesBeforeRepeating(t *testing.T) {
	h, _ := guarded(t)
	if first := h.propose("git status", event("PreToolUse", "toolu_1")); first.Answer != interlock.Allow {
		t.Fatalf("answer %v", first.Answer)
	}
	h.propose("shred notes.txt", step)
	if again := h.propose("git status", event("PermissionRequest", "")); again.Answer != interlock.Halt || again.Repeated {
		t.Errorf("after the block: %v, repeated %v", again.Answer, again.Repeated)
	}
}

// TestPauseIsNotLifted: an order that lifts is for blocks.
func TestPauseIsNotLifted(t *testing.T) {
	h, _ := guarded(t)
	h.employ("ada", "admin")
	first := h.propose("publish notes", step)
	if _, err := h.Unblock(t.Context(), h.order(interlock.VerbUnblock, first.Challenge, "ada")); codeOf(err) != interlock.CodeInvalid {
		t.Errorf("a pause was lifted: %v", err)
	}
}

// TestSlowDelivery: what a channel says of a code that has been replaced meanwhile does not hide who has the one in force.
func TestSlowDelivery(t *testing.T) {
	slow := &slowPhone{}
	h, _ := guarded(t, func(c *admission.Config) { c.Notify = slow })
	h.employ("olga", "operator")
	slow.meanwhile = func(n notice.Notice) {
		h.now = h.now.Add(time.Second)
		if _, _, err := h.NewCode(t.Context(), h.order(interlock.VerbNewCode, n.Challenge, "olga")); err != nil {
			t.Error(err)
		}
	}
	first := h.propose("shred notes.txt", step)
	if diff := cmp.Diff([]string{"operator olga"}, h.standing().Challenges[first.Challenge].Channels); diff != "" {
		t.Errorf("channels (-want +got):\n%s", diff)
	}
}

type slowPhone struct{ meanwhile func(notice.Notice) }

func (p *slowPhone) Notify(_ context.Context, n notice.Notice) notice.Delivery {
	p.meanwhile(n)
	return notice.Delivery{Channels: []string{"phone"}}
}

// TestNoCodeInTheRecord: nothing that is written holds a code, whole or grouped otherwise.
func TestNoCodeInTheRecord(t *testing.T) {
	h, told, first := blocked(t)
	h.employ("olga", "operator")
	h.now = h.now.Add(time.Second)
	shown, _, err := h.NewCode(t.Context(), h.order(interlock.VerbNewCode, first.Challenge, "olga"))
	if err != nil {
		t.Fatal(err)
	}
	sent := told.code(t)
	h.verifies("claude", sent, sent) // in the wrong place
	h.verifies("claude", first.Challenge, sent)
	h.verifies("claude", first.Challenge, shown)
	standing := h.standing()
	written := strings.Join(h.alerts, "\n")
	for _, e := range h.log() {
		written += string(e.Body)
	}
	for _, c := range standing.Challenges {
		written += c.CodeHash + c.Reason + c.Display
	}
	for _, code := range []string{sent, shown} {
		for _, form := range []string{code, strings.ReplaceAll(code, "-", ""), code[:14]} {
			if strings.Contains(strings.ToUpper(written), form) {
				t.Errorf("a code is written down")
			}
		}
	}
	for _, text := range []string{told.notices[0].Code.String(), string(must(told.notices[0].Code.MarshalText())), told.notices[0].Code.GoString()} {
		if text != "[withheld]" {
			t.Errorf("a code prints as %q", text)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestOneCodeOnePass: of many answers at once with the right code, one passes; of many guesses at once, no more are looked at
// than the limit lets through.
func TestOneCodeOnePass(t *testing.T) {
	h, told, first := blocked(t, func(c *admission.Config) { c.Alert = nil }) // it is told from many goroutines
	answer := func(code string) []string {
		results := make([]string, 32)
		var all sync.WaitGroup
		for i := range results {
			all.Go(func() {
				v, err := h.Verify(t.Context(), interlock.Requester{Agent: "claude", Principal: "alice"}, first.Challenge, code)
				if err == nil { // one that lost too many races was not looked at
					results[i] = v.Result
				}
			})
		}
		all.Wait()
		return results
	}
	count := func(results []string, what ...string) (n int) {
		for _, result := range results {
			for _, w := range what {
				if result == w {
					n++
				}
			}
		}
		return n
	}
	if results := answer(told.code(t)); count(results, "passed") != 1 {
		t.Errorf("%d answers passed: %v", count(results, "passed"), results)
	}
	h.propose("shred notes.txt", step)
	first.Challenge = challengeOf(h)
	results := answer("0000-0000-0000-0000-0000-0000-0000-0000")
	if n := count(results, "wrong", "expired", "unknown"); n > 10 || count(results, "wrong") > 1 || count(results, "passed") > 0 {
		t.Errorf("%d guesses were looked at: %v", n, results)
	}
	h.entries()
}
