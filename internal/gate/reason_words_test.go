package gate

import (
	"strings"
	"testing"

	"interlock"
	"interlock/internal/impact"
	"interlock/internal/impact/fact"
)

// TestEffects: a reason says what is done to what; where only the program is known it is no object, and what a text asks for
// is told as that.
func TestEffects(t *testing.T) {
	for _, c := range []struct {
		impact interlock.Impact
		want   string
	}{
		{interlock.Impact{Kind: interlock.ImpactDelete, Target: "pods", Via: "kubectl delete"}, "deletes pods (kubectl delete)"},
		{interlock.Impact{Kind: interlock.ImpactDelete, Target: "kubectl delete", Via: "kubectl delete"},
			"deletes something with kubectl delete"},
		{interlock.Impact{Kind: interlock.ImpactDelete, Target: "aws", Via: "aws route53 delete-traffic-policy"},
			"deletes something with aws route53 delete-traffic-policy"},
		{interlock.Impact{Kind: interlock.ImpactNetwork, Target: "git push", Via: "git push"}, "connects with git push"},
		{interlock.Impact{Kind: interlock.ImpactNetwork, Target: "mail", Via: "mail", Traits: []string{fact.TraitUpload}},
			"sends data with mail"},
		{interlock.Impact{Kind: interlock.ImpactMessage, Target: "npm publish", Via: "npm publish",
			Traits: []string{fact.TraitPublish}}, "publishes with npm publish"},
		{interlock.Impact{Kind: interlock.ImpactExecute, Target: "bash", Via: "bash"}, "runs bash"},
		{interlock.Impact{Kind: interlock.ImpactConfigure, Target: "interlock", Via: "interlock", Reach: interlock.ReachSelf},
			"changes interlock"},
		{interlock.Impact{Kind: interlock.ImpactSpawn, Target: "~/fill", Via: "yes", Traits: []string{fact.TraitFilling}},
			"fills ~/fill (yes)"},
		{interlock.Impact{Kind: interlock.ImpactDelete, Target: "{stdin}", Via: "rm"}, "deletes what its input names (rm)"},
		{interlock.Impact{Kind: interlock.ImpactRead, Target: "/srv/*?", Via: "sed"}, "reads what lies below /srv/ (sed)"},
		{interlock.Impact{Kind: interlock.ImpactWrite, Target: "/usr/x", Via: "hint create"}, "writes /usr/x"},
		{interlock.Impact{Kind: interlock.ImpactNetwork, Target: "hint send", Via: "hint send",
			Traits: []string{fact.TraitUpload}}, "sends data as the text asks"},
	} {
		c.impact.Confidence, c.impact.Reversibility = interlock.Parsed, interlock.Window
		if c.impact.Reach == "" {
			c.impact.Reach = interlock.ReachExternal
		}
		if got := effects([]int{0}, []interlock.Impact{c.impact}); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// told tells impacts that are parsed and, where it matters not, outside and final.
func told(list ...interlock.Impact) string {
	at := make([]int, 0, len(list))
	for n := range list {
		i := &list[n]
		if i.Confidence == "" {
			i.Confidence = interlock.Parsed
		}
		if i.Reversibility == "" {
			i.Reversibility = interlock.Irreversible
		}
		if i.Reach == "" {
			i.Reach = interlock.ReachExternal
		}
		at = append(at, n)
	}
	return effects(at, list)
}

// TestEachEffectHasItsWords: every kind and trait that changes what a person is told.
func TestEachEffectHasItsWords(t *testing.T) {
	const network, write, credential = interlock.ImpactNetwork, interlock.ImpactWrite, interlock.ImpactCredential
	for want, i := range map[string]interlock.Impact{
		"does something unknown with x (p)": {Kind: write, Confidence: interlock.Unknown},
		"starts or ends x (p)":              {Kind: interlock.ImpactSpawn},
		"moves x (p)":                       {Kind: write, Traits: []string{fact.TraitMoved, fact.TraitOverwrite}},
		"overwrites x (p)":                  {Kind: write, Traits: []string{fact.TraitOverwrite}},
		"deletes all of x (p)":              {Kind: interlock.ImpactDelete, Traits: []string{fact.TraitRecursive}},
		"sends a secret to x (p)":           {Kind: network, Traits: []string{fact.TraitUpload, fact.TraitSecret}},
		"connects to x (p)":                 {Kind: network, Traits: []string{fact.TraitSecret}},
		"opens a port for x (p)":            {Kind: network, Traits: []string{fact.TraitListen}},
		"tunnels to x (p)":                  {Kind: network, Traits: []string{fact.TraitForward}},
		"probes x (p)":                      {Kind: network, Traits: []string{fact.TraitScan}},
		"fetches from x (p)":                {Kind: network, Traits: []string{fact.TraitDownload}},
		"sends a message to x (p)":          {Kind: interlock.ImpactMessage},
		"spends money on x (p)":             {Kind: interlock.ImpactSpend},
		"spends 0.01 on x (p)":              {Kind: interlock.ImpactSpend, Amount: 1},
		"spends 1.10 on x (p)":              {Kind: interlock.ImpactSpend, Amount: 110},
		"reads the secret x (p)":            {Kind: credential, Reversibility: interlock.Readonly},
		"changes the secret x (p)":          {Kind: credential},
		"changes the rights of x (p)":       {Kind: interlock.ImpactPrivilege},
		"writes x (p) in production":        {Kind: write, Reach: interlock.ReachProduction},
		"writes x (p) as another user":      {Kind: write, Traits: []string{fact.TraitElevated}},
	} {
		i.Target, i.Via = "x", "p"
		if got := told(i); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := told(interlock.Impact{Kind: network, Traits: []string{fact.TraitSecretSend}, Target: "x"}); got != "sends a secret to x" {
		t.Errorf("got %q", got)
	}
	for verb, want := range map[string]string{"changes the rights of": "changes rights", "reads the secret": "reads a secret",
		"adds to": "adds something", "deletes all of": "deletes something", "has something run later by": "has something run later by",
		"fetches from": "fetches", "opens a port for": "opens a port", "spends 1.10 on": "spends 1.10", "concerns": "concerns"} {
		if got := withoutObject(verb); got != want {
			t.Errorf("%s: %q, want %q", verb, got, want)
		}
	}
}

// TestEffectsTogether: what one program does to several is told once, and no more than a person reads.
func TestEffectsTogether(t *testing.T) {
	remove := func(target string) interlock.Impact {
		return interlock.Impact{Kind: interlock.ImpactDelete, Target: target, Via: "rm"}
	}
	write := func(target, via string) interlock.Impact {
		return interlock.Impact{Kind: interlock.ImpactWrite, Target: target, Via: via}
	}
	production := write("a", "cp")
	production.Reach = interlock.ReachProduction
	for _, test := range []struct {
		want    string
		impacts []interlock.Impact
	}{
		{"deletes a, b, c (rm)", []interlock.Impact{remove("a"), remove("b"), remove("a"), remove("c")}},
		{"deletes a, b, c and 2 more (rm)", []interlock.Impact{remove("a"), remove("b"), remove("c"), remove("d"), remove("e")}},
		{"deletes a (rm); writes a (cp)", []interlock.Impact{remove("a"), write("a", "cp")}},
		{"writes a (cp); writes b (mv)", []interlock.Impact{write("a", "cp"), write("b", "mv")}},
		{"writes b (cp); writes a (cp) in production", []interlock.Impact{write("b", "cp"), production}},
		{"deletes a, b (rm); writes a (cp); and more", []interlock.Impact{remove("a"), write("a", "cp"), write("a", "mv"), remove("b")}},
		{"writes x (cp); writes y", []interlock.Impact{write("x", "cp"), write("y", ">")}},
		{"deletes rm, a (rm)", []interlock.Impact{remove("rm"), remove("a")}},
		{"deletes something not named", []interlock.Impact{{Kind: interlock.ImpactDelete}}},
		{"deletes something with rm", []interlock.Impact{remove("")}},
		{"", nil},
	} {
		if got := told(test.impacts...); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
	if got := effects([]int{-1, 1}, []interlock.Impact{remove("a")}); got != "" {
		t.Errorf("impacts that are not there: %q", got)
	}
}

// TestShorten: a name of just the length stays, a longer one keeps its beginning and its end.
func TestShorten(t *testing.T) {
	for text, want := range map[string]string{"abcdefgh": "abcdefgh", "abcdefghi": "abcde…hi", "äbcdefgh": "äbcdefgh", "": ""} {
		if got := shorten(text, 8); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	long := strings.Repeat("x", 4*maxTold)
	if got := shown(long); got != strings.Repeat("x", maxObject-maxObject/4-1)+"…"+strings.Repeat("x", maxObject/4) {
		t.Errorf("%q", got)
	}
	if got := shown(long + "x"); got != strings.Repeat("x", maxObject-1)+"…" {
		t.Errorf("a name that was cut off: %q", got)
	}
}

// TestToldOf: which findings are told what they are about, and from which part of the action.
func TestToldOf(t *testing.T) {
	action := interlock.Action{Tool: "refund", Input: "frob  it"}
	analysis := impact.Analysis{Impacts: []interlock.Impact{{Kind: interlock.ImpactDelete, Target: "a", Via: "rm", Reach: interlock.ReachHome,
		Reversibility: interlock.Irreversible, Confidence: interlock.Parsed}}}
	for _, test := range []struct {
		name    string
		finding interlock.Finding
		action  interlock.Action
		want    string
	}{
		{"its impacts", interlock.Finding{Gate: "rules", Verdict: interlock.Deny, Reason: "why", Impacts: []int{0}}, action, "why: deletes a (rm)"},
		{"a halt about impacts",
			interlock.Finding{Gate: "rules", Verdict: interlock.Halt, Reason: "why", Impacts: []int{0}}, action, "why: deletes a (rm)"},
		{"a halt about nothing", interlock.Finding{Gate: "danger", Verdict: interlock.Halt, Reason: "why"}, action, "why"},
		{"no objection", interlock.Finding{Gate: "rules", Verdict: interlock.Allow, Reason: "why", Impacts: []int{0}}, action, "why"},
		{"no reason", interlock.Finding{Gate: "rules", Verdict: interlock.Deny, Impacts: []int{0}}, action, ""},
		{"the input", interlock.Finding{Gate: "unknown", Verdict: interlock.Ask, Reason: "why", Impacts: []int{0}}, action, "why: frob it"},
		{"no input",
			interlock.Finding{Gate: "unknown", Verdict: interlock.Ask, Reason: "why", Impacts: []int{0}}, interlock.Action{}, "why: deletes a (rm)"},
		{"the tool", interlock.Finding{Gate: "danger", Verdict: interlock.Ask, Reason: "why"}, action, "why: refund"},
		{"impacts before the tool",
			interlock.Finding{Gate: "danger", Verdict: interlock.Ask, Reason: "why", Impacts: []int{0}}, action, "why: deletes a (rm)"},
		{"nothing to name", interlock.Finding{Gate: "danger", Verdict: interlock.Ask, Reason: "why"}, interlock.Action{}, "why"},
	} {
		if got := Told(rows, []interlock.Finding{test.finding}, test.action, analysis)[0].Reason; got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestFits: a command is suggested only to who runs the same program, and by the impacts where there are some.
func TestFits(t *testing.T) {
	analysis := impact.Analysis{Impacts: []interlock.Impact{{Via: "git push"}, {Via: "rm"}}, Texts: []fact.Text{{Value: "ls"}, {Value: "npm publish"}}}
	for _, test := range []struct {
		try  string
		at   []int
		want bool
	}{
		{"git push --dry-run", []int{0}, true}, {"git push --dry-run", []int{1}, false}, {"rm -i", []int{0, 1}, true},
		{"git push", []int{-1, 2}, false}, {"npm publish", nil, true}, {"ls", nil, true}, {"git push", nil, false}, {"npm publish", []int{1}, false},
	} {
		if got := fits(test.try, test.at, analysis); got != test.want {
			t.Errorf("%s for %v: %v", test.try, test.at, got)
		}
	}
}
