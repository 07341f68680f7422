package conform

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

func asaGroundChecks() []Check {
	return []Check{
		{IDs: []string{"ASA-9.3-2", "ASA-9.3-5"}, Drives: "interlock judge rules, the bytes that the judge got", Do: clearRules},
		{IDs: []string{"ASA-9.4-1"}, Drives: "interlock judge test, settings that name one model twice, a judge that is steady and one that is not",
			Do: fitModel},
	}
}

func clearRules(ctx context.Context, d *Driver) (string, error) {
	h, judge, err := asaHouse(ctx, d, "asa")
	if err != nil {
		return "", err
	}
	if _, err := h.Expect(ctx, "worker", Shell("cat clear-rules"), "allow"); err != nil {
		return "", err
	}
	shown, lint := h.CLI(ctx, "", "judge", "rules", "show").Out, h.CLI(ctx, "", "judge", "rules", "lint")
	var sent string
	if bodies := judge.sent("clear-rules"); len(bodies) == 1 {
		var request struct {
			Messages []struct{ Content string }
		}
		if err := json.Unmarshal([]byte(bodies[0]), &request); err == nil && len(request.Messages) > 0 {
			sent = request.Messages[0].Content
		}
	}
	rules := strings.Count(shown, "\n### ")
	const vague = "# Ours\n\n## Layer 4: Behavioral\n\n### L4.own-tone Tone\n\nWrite in an appropriate tone.\n\nAllowed:\n- a\n\nDisallowed:\n- b\n"
	const bare = "# Ours\n\n## Layer 4: Behavioral\n\n### L4.own-tone Tone\n\nNever write in capitals.\n"
	return fmt.Sprintf("%d ground rules in plain words, each with what is allowed and what is not, %d bytes with the rule for conflicts, are what "+
			"the judge is sent; vague ones, ones without examples and ones too long for its window are pointed at", rules, len(shown)), First(
			Unless(lint.Code == 0 && strings.Contains(lint.Out, "no problems"), "lint says of them: %s", lint.Out+lint.Err),
			Unless(rules > 10 && strings.Count(shown, "\nAllowed:") == rules && strings.Count(shown, "\nDisallowed:") == rules,
				"of %d rules %d say what is allowed and %d what is not", rules, strings.Count(shown, "\nAllowed:"), strings.Count(shown, "\nDisallowed:")),
			Unless(strings.Contains(shown, "lower-numbered layer overrides"), "nothing is said of conflicts between layers"),
			Unless(strings.Contains(sent, strings.TrimSpace(shown)), "the judge is sent other rules: %.200s", sent),
			h.refusedFile(ctx, "vague.md", vague, "vague", "judge", "rules", "lint", "FILE"),
			h.refusedFile(ctx, "bare.md", bare, "no-examples", "judge", "rules", "lint", "FILE"),
			h.refusedFile(ctx, "long.md", strings.ReplaceAll(vague, "an appropriate", "a calm"), "too-long", "judge", "rules", "lint", "FILE",
				"--window", "2048"))
}

// fitModel looks at what the program does for the choice of a model, which is the operator's: it says how fast and how steady one is, takes
// one on the operator's own machine without a key, and refuses the one that reasons.
func fitModel(ctx context.Context, d *Driver) (string, error) {
	h, judge, err := asaHouse(ctx, d, "asa-model")
	if err != nil {
		return "", err
	}
	measured := func() Reply {
		return Reply{Text: h.CLI(ctx, "", "judge", "test", "--first", "4", "--repeat", "3", "--brief", "--json").Out}
	}
	steady := measured()
	judge.flap(true)
	unsteady := measured()
	judge.flap(false)
	if _, err := apartFrom(ctx, d); err != nil {
		return "", err
	}
	return "a model on one's own machine, without a key, is measured: its latency, and that one which says something else each time is not stable; " +
			"the model that reasons is refused", First(
			Unless(number(steady.Member("latency.p50_micros")) > 0 && steady.Member("unstable") == "[]", "of a steady one it says %s, unstable %s",
				steady.Member("latency"), steady.Member("unstable")),
			Unless(unsteady.Member("unstable") != "[]" && unsteady.Member("unstable") != "", "one that flaps is stable: %s", unsteady.Member("unstable")))
}
