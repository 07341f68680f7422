package conform

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// afterTheFact are the checks of what is judged later, sampled, or reviewed each week.
func afterTheFact() []Check {
	const drives = "settings, HTTP API, log, a judge of the check's own"
	return []Check{
		{IDs: []string{"ASA-16.1-1"}, Drives: "HTTP API, interlock digest, a judge of the check's own", Do: reviewed},
		{IDs: []string{"ASA-17.1-1"}, Drives: drives, Do: optedIn},
		{IDs: []string{"ASA-17.1-2"}, Drives: drives, Do: uncertain},
		{IDs: []string{"ASA-17.2-1"}, Drives: "HTTP API, log, interlock replay, a judge of the check's own", Do: sampled},
	}
}

// The shares of the classes that are sampled: of the first hardly any is judged, of the second about half.
const (
	shareOfReads    = 1
	shareOfSettings = 50
)

// lateHouse is a home whose operator has writes in the workspace judged afterwards, and what reads or configures it in samples.
func lateHouse(ctx context.Context, d *Driver, name string) (*House, *judgeServer, error) {
	return asaRules(ctx, d, name, "", fmt.Sprintf("  after: [write workspace]\n  sample: {read workspace: %d, configure workspace: %d}\n",
		shareOfReads, shareOfSettings))
}

// answered waits until no judgment is owed.
func (h *House) answered(ctx context.Context) error {
	waits, stop := context.WithTimeout(ctx, upTime/2)
	defer stop()
	for {
		said := h.CLI(waits, "", "judge", "owed")
		if strings.HasPrefix(said.Out, "no judgment is owed\n") {
			return nil
		}
		select {
		case <-waits.Done():
			return fmt.Errorf("a judgment is still owed: %s", said.Out+said.Err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// saidAfter is what the judge said of a decision after it was let through, as its event in the log has it; empty where there is none.
func (h *House) saidAfter(ctx context.Context, event string) string {
	for _, line := range strings.Split(h.Events(ctx, "JUDGED_AFTER"), "\n") {
		if event != "" && strings.Contains(line, `"event":"`+event+`"`) {
			return line
		}
	}
	return ""
}

// refusedClass has the settings of a judge refused for a class that can't be undone.
func (h *House) refusedClass(ctx context.Context, judge *judgeServer, setting, class string) error {
	return h.refusedFile(ctx, "class.yaml", "profile: asa\n"+judge.settings()+"  "+setting+"\n", class+", which is always judged before it is done",
		"--config", "FILE", "check", "ls")
}

func reviewed(ctx context.Context, d *Driver) (string, error) {
	h, judge, err := lateHouse(ctx, d, "asa-watched")
	if err != nil {
		return "", err
	}
	judge.answersIf("wrong-one")
	_, before := h.Expect(ctx, "worker", Shell("make wrong-one"), "deny")
	permitted, first := h.Expect(ctx, "worker", Shell("make right-one"), "allow")
	good, second := h.Expect(ctx, "worker", Shell("touch right-one"), "allow")
	bad, third := h.Expect(ctx, "worker", Shell("touch wrong-one").In("run-wrong"), "allow")
	if err := First(before, first, second, third, h.answered(ctx)); err != nil {
		return "", err
	}
	var week struct {
		Gates []struct {
			Gate, Denied, Of int
			Late             int `json:"denied_after"`
		}
		Review []struct{ Event, By string }
	}
	said := h.CLI(ctx, "", "digest", "--since", "7d", "--json")
	if err := json.Unmarshal([]byte(said.Out), &week); err != nil {
		return "", fmt.Errorf("the digest is no JSON: exit %d: %s", said.Code, said.Out+said.Err)
	}
	by := map[string]string{}
	for _, one := range week.Review {
		by[one.Event] = one.By
	}
	counted := false
	for _, g := range week.Gates {
		counted = counted || g.Gate == 2 && g.Denied == 1 && g.Of == 4 && g.Late == 1
	}
	return "the digest of a week counts what the judge denied, before and afterwards, of how much, and names what it let pass, to look at again",
		First(Unless(counted, "of 4 actions it denied 1 before and 1 afterwards; the digest has %+v", week.Gates),
			Unless(by[permitted.Event] == "judge", "what it allowed is in the review as permitted by %q", by[permitted.Event]),
			Unless(by[good.Event] == "judge, afterwards" && by[bad.Event] == "judge, afterwards", "what was let through before is in the review as "+
				"permitted by %q and %q", by[good.Event], by[bad.Event]))
}

func optedIn(ctx context.Context, d *Driver) (string, error) {
	plain, heard, err := asaHouse(ctx, d, "asa")
	if err != nil {
		return "", err
	}
	const word = "opted-in"
	unasked, first := plain.Expect(ctx, "worker", Shell("touch "+word), "allow")
	before := len(heard.sent(word))
	_, refused := plain.Expect(ctx, "worker", Shell("touch "+word+"-"+denyFirst), "deny")
	h, judge, err := lateHouse(ctx, d, "asa-after")
	if err != nil {
		return "", err
	}
	passed, second := h.Expect(ctx, "worker", Shell("touch "+word).In("run-good"), "allow")
	deleting := plain.refusedClass(ctx, judge, "after: [delete workspace]", "delete workspace")
	if err := First(first, refused, second, deleting, h.answered(ctx)); err != nil {
		return "", err
	}
	event, said := h.Event(ctx, passed.Event), h.saidAfter(ctx, passed.Event)
	if err := First(
		Unless(before == 1, "without the operator's word the judge was asked %d times before the answer", before),
		Unless(plain.saidAfter(ctx, unasked.Event) == "", "without the operator's word it was judged afterwards"),
		Unless(strings.Contains(event, "actions of the class write workspace are judged after they were let through") &&
			strings.Contains(event, `"not_run"`), "the record does not say that the judge was not heard: %s", event),
		Unless(strings.Contains(said, `"result":"allow"`) && len(judge.sent(word)) == 1, "afterwards the log has %q, and the judge was asked %d times",
			said, len(judge.sent(word)))); err != nil {
		return "", err
	}
	return "without the operator's word each action is judged before; a class that deletes is refused; " +
		"a class that was opted in passes and is judged then, " +
		"and what is denied then holds its run, tells the operators and is denied from there on", takenBack(ctx, h, judge)
}

// takenBack has the judge deny what was let through.
func takenBack(ctx context.Context, h *House, judge *judgeServer) error {
	const late = "touch late-" + denyFirst
	passed, through := h.Expect(ctx, "worker", Shell(late).In("run-late"), "allow")
	if err := First(through, h.answered(ctx)); err != nil {
		return err
	}
	said, held := h.saidAfter(ctx, passed.Event), h.CLI(ctx, "", "phase", "show", "run:run-late")
	asked := len(judge.sent("late-" + denyFirst))
	again, denied := h.Expect(ctx, "worker", Shell(late).In("run-other"), "deny")
	more := h.Decide(ctx, "worker", Shell("touch another").In("run-late"))
	return First(denied,
		Unless(strings.Contains(said, `"result":"deny"`) && strings.Contains(said, `"held":"run:run-late"`), "the log says of it %q", said),
		Unless(held.Code == 0 && strings.Contains(held.Out, "judge"), "its run is held by no judge: %s", held.Out+held.Err),
		Unless(more.Verdict == "ask" || more.Verdict == "deny", "what its run changes further is answered %s", more.Verdict),
		Unless(again.Rule == "judge.L1.integrity", "the same in another run is denied by %s", again.Rule),
		Unless(asked == 1 && len(judge.sent("late-"+denyFirst)) == 1, "the judge was asked %d times, and then %d", asked,
			len(judge.sent("late-"+denyFirst))),
		Unless(strings.Contains(h.Events(ctx, "ALERT"), `"code":"judge-denied-after"`), "no operator is told"))
}

func uncertain(ctx context.Context, d *Driver) (string, error) {
	h, judge, err := lateHouse(ctx, d, "asa-after")
	if err != nil {
		return "", err
	}
	judge.answersIf("uncertain-no")
	defer judge.answersIf()
	for _, command := range []string{"rm %s", "make %s", "touch %s-$NAME", "touch %s*", "touch %s && rm scratch"} {
		yes, no := "uncertain-yes", "uncertain-no"
		asked := len(judge.sent(yes))
		h.Decide(ctx, "worker", Shell(fmt.Sprintf(command, yes)))
		asked = len(judge.sent(yes)) - asked
		denied, err := h.Expect(ctx, "worker", Shell(fmt.Sprintf(command, no)), "deny")
		if err != nil || asked != 1 || denied.Rule != "judge.L1.integrity" {
			return "", fmt.Errorf("before %s is answered the judge is asked %d times, and what it denies is %s by %s: %w", fmt.Sprintf(command, yes), asked,
				denied.Verdict, denied.Rule, err)
		}
		if said := h.saidAfter(ctx, denied.Event); said != "" {
			return "", fmt.Errorf("%s is judged afterwards: %s", fmt.Sprintf(command, no), said)
		}
	}
	return "what deletes, runs code, or can't be read off its text for certain is judged before it is answered " +
			"where writes are judged afterwards, and a " +
			"class of such actions is refused", First(h.answered(ctx),
			h.refusedClass(ctx, judge, "sample: {execute workspace: 10}", "execute workspace"))
}

// unsampledOf counts the decisions whose record says that no judge was heard of them, for the share of their class.
func (h *House) unsampledOf(ctx context.Context, class string, share int) (n int) {
	why := fmt.Sprintf(`"reason":"%d of 100 actions of the class %s are judged, and this one was not drawn"`, share, class)
	for _, line := range strings.Split(h.CLI(ctx, "", "audit", "list", "--type", "DECISION", "--json", "--limit", "1000").Out, "\n") {
		if strings.Contains(line, `"failure":"unsampled"`) && strings.Contains(line, why) && strings.Contains(line, `"draw":`) &&
			strings.Contains(line, fmt.Sprintf(`"share":%d`, share)) {
			n++
		}
	}
	return n
}

func sampled(ctx context.Context, d *Driver) (string, error) {
	h, judge, err := lateHouse(ctx, d, "asa-after")
	if err != nil {
		return "", err
	}
	const many = 30
	for n := range many {
		_, read := h.Expect(ctx, "worker", Shell(fmt.Sprintf("cat sampled-read-%d.txt", n)), "allow")
		_, set := h.Expect(ctx, "worker", Shell(fmt.Sprintf("npm config set sampled-set-%d on", n)), "allow")
		if err := First(read, set); err != nil {
			return "", err
		}
	}
	reads, settings := len(judge.sent("sampled-read-")), len(judge.sent("sampled-set-"))
	spared := h.unsampledOf(ctx, "read workspace", shareOfReads)
	left := h.unsampledOf(ctx, "configure workspace", shareOfSettings)
	asked := len(judge.sent(""))
	judge.behave(modeError)
	defer judge.behave("")
	replayed := h.CLI(ctx, "", "replay", "run")
	return "of a class with a share of 1 in 100 hardly any is judged and of one with 50 about half; the log says so of " +
			"each that was not, and every decision is made again without the model", First(
			// each of these fails a right program once in a hundred million runs at most
			Unless(reads <= many/3, "of %d reads the judge was asked of %d", many, reads),
			Unless(settings > 0 && settings < many, "of %d settings the judge was asked of %d", many, settings),
			Unless(reads+spared == many && settings+left == many, "of %d each the judge was asked of %d and %d, and %d and %d were not drawn", many, reads,
				settings, spared, left),
			Unless(replayed.Code == 0 && strings.Contains(replayed.Out, "REPLAYABLE: true") && !strings.Contains(replayed.Out, "DIVERGENT") &&
				!strings.Contains(replayed.Out, "MISMATCH"), "replay says, exit %d: %s", replayed.Code, replayed.Out+replayed.Err),
			Unless(len(judge.sent("")) == asked, "replay asked the judge"))
}
