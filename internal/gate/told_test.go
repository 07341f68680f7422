package gate

import (
	"testing"

	"interlock"
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
