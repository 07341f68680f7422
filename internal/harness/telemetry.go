package harness

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"github.com/tailscale/hujson"
)

// Telemetry is where a harness reports what it uses of models, and by which token.
type Telemetry struct {
	Base  string // of the receiver, such as http://127.0.0.1:7433/otlp
	Token string
}

// usageMark begins the tokens of harnesses, by which settings of ours are known again.
const usageMark = "ilu_"

// variables are the settings of Claude Code's own telemetry, which it takes as environment variables: its metrics alone, which hold
// numbers and no prompts.
func (t Telemetry) variables() [][2]string {
	return [][2]string{
		{"CLAUDE_CODE_ENABLE_TELEMETRY", "1"},
		{"OTEL_METRICS_EXPORTER", "otlp"},
		{"OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "http/protobuf"},
		{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", t.Base + "/v1/metrics"},
		{"OTEL_EXPORTER_OTLP_METRICS_HEADERS", "Authorization=" + url.PathEscape("Bearer "+t.Token)},
	}
}

// Reports reports whether a harness takes its telemetry from the settings that are installed to.
func (h Harness) Reports() bool { return h.Name == "claude" }

// ErrTelemetry is that a harness sends its telemetry somewhere else already, which is for its user to change.
var ErrTelemetry = errors.New("sends its metrics somewhere else already (the variables OTEL_... in env); take them out first, or have the " +
	"collector they go to pass them on")

// WithTelemetry adds to a plan that the harness reports what it uses. What reports to Interlock already is put right.
func (h Harness) WithTelemetry(p Plan, t Telemetry) (Plan, error) {
	text := p.After
	if p.After == nil {
		text = []byte{}
	}
	d, err := read(text)
	if err != nil {
		return p, about(p.Path, err)
	}
	env, err := d.env()
	if err != nil {
		return p, about(p.Path, err)
	}
	if env != nil && !ourTelemetry(env) {
		for _, v := range t.variables() {
			if have, _ := member(env, v[0]); have != nil && v[0] != "CLAUDE_CODE_ENABLE_TELEMETRY" {
				return p, about(p.Path, ErrTelemetry)
			}
		}
		if have, _ := member(env, "OTEL_EXPORTER_OTLP_ENDPOINT"); have != nil {
			return p, about(p.Path, ErrTelemetry)
		}
	}
	same := env != nil
	for _, v := range t.variables() {
		same = same && textOf(env, v[0]) == v[1]
	}
	if same {
		return p, nil
	}
	d.dropTelemetry()
	if env, err = d.env(); err != nil {
		return p, about(p.Path, err)
	}
	if env == nil {
		d.addMember(d.root(), 1, "env", hujson.Value{Value: &hujson.Object{}})
		if env, err = d.env(); err != nil {
			return p, about(p.Path, err)
		}
	}
	for _, v := range t.variables() {
		if have, _ := member(env, v[0]); have != nil {
			continue // switched on already
		}
		d.addMember(env, 2, v[0], hujson.Value{Value: hujson.String(v[1])})
	}
	p.After = d.bytes()
	return p, nil
}

// WithoutTelemetry takes out of a plan that the harness reports to Interlock, and reports whether it did.
func (h Harness) WithoutTelemetry(p Plan) (Plan, bool, error) {
	if len(p.After) == 0 || !h.Reports() {
		return p, false, nil
	}
	d, err := read(p.After)
	if err != nil {
		return p, false, about(p.Path, err)
	}
	if !d.dropTelemetry() {
		return p, false, nil
	}
	p.After = d.bytes()
	if len(d.root().Members) == 0 && d.tree.IsStandard() {
		p.After = nil
	}
	return p, true, nil
}

// Untouched is a plan that changes nothing yet, for a file as it is now.
func (h Harness) Untouched(place Place) (Plan, error) {
	p, err := h.plan(place)
	p.After = p.Before
	return p, err
}

// TelemetryOf is where the harness reports to, if that is a receiver of Interlock's.
func (h Harness) TelemetryOf(place Place) (endpoint string, reports bool) {
	p, err := h.plan(place)
	if err != nil || len(p.Before) == 0 || !h.Reports() {
		return "", false
	}
	d, err := read(p.Before)
	if err != nil {
		return "", false
	}
	env, err := d.env()
	if err != nil || env == nil || !ourTelemetry(env) {
		return "", false
	}
	return textOf(env, "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"), true
}

func (d *document) env() (*hujson.Object, error) {
	value, err := member(d.root(), "env")
	if err != nil || value == nil {
		return nil, err
	}
	env, is := value.Value.(*hujson.Object)
	if !is {
		return nil, fmt.Errorf("has an env that is no object")
	}
	return env, nil
}

func textOf(o *hujson.Object, name string) string {
	if o == nil {
		return ""
	}
	value, err := member(o, name)
	if err != nil || value == nil {
		return ""
	}
	literal, is := value.Value.(hujson.Literal)
	if !is || literal.Kind() != '"' {
		return ""
	}
	return literal.String()
}

// ourTelemetry reports whether the variables of an object report to Interlock.
func ourTelemetry(env *hujson.Object) bool {
	return strings.Contains(textOf(env, "OTEL_EXPORTER_OTLP_METRICS_HEADERS"), usageMark)
}

// dropTelemetry takes our variables out, and reports whether there were any.
func (d *document) dropTelemetry() bool {
	env, err := d.env()
	if err != nil || env == nil || !ourTelemetry(env) {
		return false
	}
	for _, v := range (Telemetry{}).variables() {
		for i := range env.Members {
			if env.Members[i].Name.Value.(hujson.Literal).String() == v[0] {
				env.Members = without(env.Members, i, &env.AfterExtra, memberStart, memberEnd)
				break
			}
		}
	}
	if len(env.Members) == 0 && !commented(env.AfterExtra) {
		d.drop("env")
	}
	return true
}

var usageTokens = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(regexp.QuoteMeta(usageMark) + `[A-Za-z0-9_.-]+`)
})

// Masked is the plan as it may be shown: without the tokens of telemetry.
func (p Plan) Masked() Plan {
	hide := func(text []byte) []byte {
		if text == nil {
			return nil
		}
		return usageTokens().ReplaceAll(text, []byte(usageMark+"..."))
	}
	p.Before, p.After = hide(p.Before), hide(p.After)
	return p
}

// TelemetryLines says what to set by hand so that a harness reports what it uses, and whether its telemetry is known.
func TelemetryLines(name string, t Telemetry) (string, bool) {
	h := byName(name)
	if h.telemetry == nil {
		return "", false
	}
	return h.telemetry(t), true
}

// inSettings is what to set for a harness whose settings hold no headers.
func (t Telemetry) inSettings(name string) string {
	return fmt.Sprintf("# in settings.json of %s\n\"telemetry\": {\"enabled\": true, \"target\": \"local\", \"otlpEndpoint\": %q, "+
		"\"otlpProtocol\": \"http\", "+
		"\"logPrompts\": false}\n# in its environment, because its settings hold no headers\nexport OTEL_EXPORTER_OTLP_HEADERS='%s'\n",
		name, t.Base, "Authorization="+url.PathEscape("Bearer "+t.Token))
}
