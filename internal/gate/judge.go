package gate

import (
	"strconv"
	"strings"

	"interlock"
	"interlock/internal/classify"
	"interlock/internal/inject"
	"interlock/internal/ruleset"
)

// NameJudge is the gate of what judges say: language models that see the action and the ground rules, and nothing else. They come last
// (ASA 7.2): whether one has to be heard turns on what all others found.
const NameJudge = "judge"

// Judged is what judges object to an action that no other gate denies, and that none was heard where the profile wants one. A judge can
// only object: its Allow takes nothing from what others found (ASA 4-P5). found is the strictest of those. Of an action, locked says why it
// is judged before whatever an operator has said of its class, see [JudgedBefore].
func Judged(rules *ruleset.Ruleset, snapshot *interlock.Snapshot, found interlock.Verdict, locked string) (out []interlock.Finding) {
	if found.Compare(interlock.Deny) >= 0 && len(snapshot.Judgments) == 0 {
		return nil // nobody was asked, because it is denied anyway (ASA 8.1)
	}
	profile, known := rules.Profile(snapshot.Profile)
	required := known && profile.Judge == ruleset.JudgeRequired
	if len(snapshot.Judgments) == 0 {
		if required {
			return []interlock.Finding{judgeFailed(&interlock.Judgment{Failure: interlock.JudgeMissing})}
		}
		return nil
	}
	for _, subject := range []interlock.JudgeSubject{"", interlock.JudgePlan, interlock.JudgeOutput} {
		out = append(out, judgedOf(snapshot.Judgments, subject, required, locked)...)
	}
	return out
}

// judgedOf is what judges object to one subject. What they said of another says nothing about this one: that an action is harmless does
// not make the output right that it carries.
func judgedOf(said []interlock.Judgment, subject interlock.JudgeSubject, required bool, locked string) (out []interlock.Finding) {
	allowed, denied := 0, 0
	for n := range said {
		j := &said[n]
		switch {
		case !about(j, subject):
		case spared(j, locked):
		case j.Failure != "" || j.Verdict != interlock.Allow && j.Verdict != interlock.Deny:
			out = append(out, judgeFailed(j))
		case j.Verdict == interlock.Allow:
			allowed++
		default:
			denied++
			out = append(out, judgeDenies(j, required))
		}
	}
	if allowed > 0 && denied > 0 && !required {
		for n := range out { // it is one judge's word against another's, so that a person decides (EC-3.3)
			if f := &out[n]; f.Rule != RuleUnheard {
				f.Verdict, f.Layer, f.Obligations = interlock.Ask, max(f.Layer, 2), []interlock.Obligation{{Type: interlock.ObligationAdmin}}
				f.Reason = "two judges disagree, so that an admin decides; " + f.Reason
			}
		}
	}
	return out
}

// about reports whether a judgment is about a subject. One that names none that is known is about an action.
func about(j *interlock.Judgment, subject interlock.JudgeSubject) bool {
	of := j.Subject
	if of != interlock.JudgePlan && of != interlock.JudgeOutput {
		of = ""
	}
	return of == subject
}

// spared reports whether an action may pass before its judge is heard, or without it: its class was opted in, it can be undone, and what
// was drawn for it is not among those that are judged. It is held here as well as where the judge was not asked, so that no
// record of an action that can't be undone says that it needed no judge (ASA 17.1).
func spared(j *interlock.Judgment, locked string) bool {
	if locked != "" || j.Subject != "" {
		return false
	}
	return j.Failure == interlock.JudgeOwed || j.Failure == interlock.JudgeUnsampled && j.Share > 0 && j.Draw >= j.Share
}

// JudgedBefore says why an action is judged before it is done, whatever an operator has said of its class; nothing where it may be
// judged afterwards, or in a sample. Where it is uncertain whether something can be undone it counts as if it could not (ASA 17.1).
func JudgedBefore(danger interlock.Danger, impacts []interlock.Impact) string {
	if len(impacts) == 0 {
		return "nobody knows what it does"
	}
	for n := range impacts {
		i := &impacts[n]
		switch why := interlock.JudgedBefore(i.Kind, i.Reach); {
		case why != "":
			return why
		case i.Confidence != interlock.Parsed:
			return "it is uncertain what it does"
		case i.Reversibility == interlock.Window:
			return "it can be undone only for a while, or by somebody else"
		case i.Reversibility != interlock.Readonly && i.Reversibility != interlock.Reversible:
			return "it can't be undone"
		}
	}
	if danger >= interlock.DangerDestructive {
		return "it is " + danger.String()
	}
	return ""
}

// RuleUnheard is that of every finding that says that a judge was not heard.
const RuleUnheard = "judge.unheard"

// judgeDenies is a denial by a ground rule. What protects systems and secrets is denied; what is a matter of scope and manner an admin
// may let pass, except where the profile wants the judge's Allow and nothing else.
func judgeDenies(j *interlock.Judgment, required bool) interlock.Finding {
	layer := j.Layer
	if layer < 1 || layer > 4 {
		layer = 1
	}
	f := interlock.Finding{Gate: NameJudge, Rule: "judge." + j.Rule, Layer: layer, Verdict: interlock.Deny, Reason: JudgeReason(j)}
	if j.Conditional || !required && layer > 2 { // a person confirms it (ASA 6.1, A.2)
		f.Verdict, f.Obligations = interlock.Ask, []interlock.Obligation{{Type: interlock.ObligationAdmin}}
	}
	return f
}

// judgeFailed says that a judge was not heard. That denies (ASA 9.1), but for what is only too long to be shown to it, or lacks only a
// second opinion: that a person reads.
func judgeFailed(j *interlock.Judgment) interlock.Finding {
	f := interlock.Finding{Gate: NameJudge, Rule: RuleUnheard, Layer: 1, Verdict: interlock.Deny,
		Reason: "no judge was heard, and what should be judged is not done unheard", Tags: []string{"judge-" + string(j.Failure)}}
	if why, known := unheard[j.Failure]; known {
		f.Reason = why
	}
	if j.Failure == interlock.JudgeTooLong || j.Failure == interlock.JudgeAlone {
		f.Layer, f.Verdict, f.Obligations = 2, interlock.Ask, []interlock.Obligation{{Type: interlock.ObligationAdmin}}
	}
	return f
}

// unheard are the reasons why a judge was not heard.
var unheard = map[interlock.JudgeFailure]string{
	interlock.JudgeMissing:     "this profile wants an independent judge's allow, and none is configured",
	interlock.JudgeUnavailable: "the judge can't be reached, and what should be judged is not done unheard",
	interlock.JudgeTimeout:     "the judge did not answer in time, and what should be judged is not done unheard",
	interlock.JudgeMalformed:   "the judge's answer can't be read, and what can't be read allows nothing",
	interlock.JudgeTooLong:     "this is longer than a judge may be shown, so that an admin looks at it",
	interlock.JudgeShed:        "the judge has too much to do, and what should be judged is not done unheard; try again later",
	interlock.JudgeCanary:      "the judge failed its own test, and is not believed until it passes",
	interlock.JudgeBreaker:     "the judge failed too often, and is not asked for a while",
	interlock.JudgeSpent:       "what the judge may cost is used up, and what should be judged is not done unheard",
	interlock.JudgeAlone:       "much depends on this, and no second judge with another model is configured, so that an admin looks at it",
	interlock.JudgeMoved:       "what the judge was asked about changed while it was asked; try again",
	interlock.JudgeOwed:        "what can't be undone for certain is not done before the judge was heard",
	interlock.JudgeUnsampled:   "what can't be undone for certain is not done before the judge was heard",
}

// maxJudgeReason is how much of a judge's own words an agent is shown, in bytes.
const maxJudgeReason = 300

// JudgeReason is what an agent may read of a denial: the ground rule, and the judge's own words where they are short, hold no secret and
// give no orders. The words are a model's, made from what an agent wrote; operators read them whole.
func JudgeReason(j *interlock.Judgment) string {
	said := "the judge objects by the ground rule " + j.Rule + " of layer " + strconv.Itoa(j.Layer)
	words := strings.Join(strings.Fields(j.Reason), " ")
	if words == "" || len(words) > maxJudgeReason {
		return said
	}
	if _, kinds := classify.Redact(words); len(kinds) > 0 || inject.Injected(words) {
		return said
	}
	return said + ": " + words
}
