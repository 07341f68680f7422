package main

import (
	"fmt"

	"interlock"
	"interlock/embedded"
	"interlock/internal/admission"
	"interlock/internal/judge"
)

type judgeRulesAdopt struct {
	orderFlags
	Digest string `help:"Refuse unless the ground rules as a judge is sent them have this digest." placeholder:"sha256:HEX"`
	Reason string `required:"" help:"Why, for the record." placeholder:"TEXT"`
	File   string `arg:"" optional:"" type:"path" help:"Ground rules to add to those that ship. Default: the file of the settings."`
}

// Help is what `interlock judge rules adopt --help` adds.
func (judgeRulesAdopt) Help() string {
	return "An admin's signed order, with the text itself, which is kept in the store. Servers that run take it up within a second: what\n" +
		"judges said before counts no more, and each judge has to pass its canary under the new rules first. From the first order on\n" +
		"the file alone changes nothing, also after a restart; where there is no file of the settings, the rules that ship are ordered."
}

// Run signs the order and has it carried out.
func (c *judgeRulesAdopt) Run(p *program) error {
	settings, err := p.settings()
	if err != nil {
		return err
	}
	backend, err := p.openUnder(settings)
	if err != nil {
		return err
	}
	defer backend.Close()
	want, err := embedded.GroundToOrder(backend.Settings, c.File)
	if err != nil {
		return err
	}
	digest := want.Rules.Digest()
	if c.Digest != "" && c.Digest != string(digest) {
		return interlock.Errorf(interlock.CodeConflict, "--digest", "with those that ship, these ground rules are %s; look at them again", digest)
	}
	given, err := newOrder(interlock.VerbAdoptGround, string(digest), admission.GroundDetail(want.Text), c.Reason, interlock.Requester{})
	if err != nil {
		return err
	}
	given.Aside = want.Text
	given, done, err := p.order(backend, c.orderFlags, given)
	if err != nil {
		return err
	}
	if err := p.done(done, "%d ground rules, %s, are in force by order of %s", len(want.Rules.Rules()), digest, given.Operator); err != nil {
		return err
	}
	now, err := backend.GroundRules(p.ctx)
	if err == nil && now.Differs != "" {
		fmt.Fprintf(p.stderr, "note: the file of the settings %s; put these rules there too, or interlock doctor goes on saying so\n", now.Differs)
	}
	return err
}

// groundStanding says what is to be known of the ground rules beside what they are: that the file is otherwise, or a server was started
// under others. Empty: nothing.
func groundStanding(g embedded.Ground) string {
	switch {
	case g.Order != "" && g.Differs != "":
		return "the file of ground rules " + g.Differs + "; in force stay those that " + g.By + " ordered, until an admin orders others: " +
			"interlock judge rules adopt --key FILE --reason TEXT"
	case g.Last != "" && g.Last != g.Rules.Digest():
		return "the file of ground rules was changed since a server began with others, which stay in force there until it is started anew " +
			"or an admin orders these: interlock judge rules adopt --key FILE --reason TEXT"
	}
	return ""
}

// groundOrigin says whence the ground rules in force are.
func groundOrigin(g embedded.Ground) string {
	switch {
	case g.Order != "":
		return "ordered by " + g.By
	case g.Added != nil:
		return "those that ship with the operator's file"
	}
	return "those that ship"
}

// failureFix is what to do about a judge that failed its test.
func failureFix(t judge.Trial, settings string) string {
	switch t.Failure {
	case interlock.JudgeCanary:
		return "take a larger model, or commands for judge.canary that your ground rules speak of"
	case interlock.JudgeUnavailable:
		return "start the server it names, and look at its url, key and ca in " + settings
	case interlock.JudgeTimeout:
		return "have the model loaded before it is needed, or give it more timeout in " + settings
	case interlock.JudgeMalformed:
		return "a model that thinks aloud needs more max_answer_tokens, one that a server calls otherwise answers_as, and a server that takes " +
			"no format omit: [format], in " + settings + "; else take another model"
	case interlock.JudgeTooLong:
		return "raise max_payload in " + settings
	case interlock.JudgeSpent:
		return "raise the budget in judge.budgets, or wait"
	}
	return "run interlock judge canary again, and look at what it says"
}
