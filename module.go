package interlock

import (
	"slices"
	"strings"
	"time"
)

// A Module is what a registered agent may do, needs and keeps where it is a module that the council governs (MACE self representation).
// How it does is kept beside it.
type Module struct {
	Type     string         `json:"type"` // one of [ModuleTypes]
	Name     string         `json:"display_name,omitempty"`
	Version  string         `json:"version"`
	Policy   ModulePolicy   `json:"policy,omitzero"`
	Code     []string       `json:"code,omitempty"`                     // globs over the paths it is made of, which it never changes itself
	Services []string       `json:"external_services,omitempty"`        // globs over hosts; of what is outside it reaches nothing else
	Persist  bool           `json:"persist_external_outputs,omitempty"` // what services answered may be kept for replay
	Budgets  []ModuleBudget `json:"budgets,omitempty"`
	Timeout  int64          `json:"agent_timeout_ms,omitempty"` // of one action; what takes longer counts as failed
	Attempts int            `json:"max_attempts,omitempty"`     // at one action in a run, the first among them

	Registration Registration `json:"registration"`
	Updated      time.Time    `json:"last_updated,omitzero"`
}

// A ModulePolicy says which actions a module has: globs over tools and texts that are executed, and kinds of action.
type ModulePolicy struct {
	Allowed   []string `json:"allowed_actions,omitempty"`   // if not empty, nothing else
	Forbidden []string `json:"forbidden_actions,omitempty"` // whatever else is allowed
	Immutable []string `json:"immutable_actions,omitempty"` // of the two lists above: they stay in theirs
}

// A ModuleBudget is how much of something a module may use within a time.
type ModuleBudget struct {
	Measure string `json:"measure"` // as of a limit, or tokens
	Most    int64  `json:"most"`
	Within  int64  `json:"within_s"` // seconds
}

// A Registration says on whose word a module was registered. It never changes.
type Registration struct {
	By string    `json:"registered_by"`
	At time.Time `json:"registered_at"`
}

// The constants of modules that say nothing of their own (MACE).
const (
	ModuleTimeout  = 30_000 // AGENT_TIMEOUT_MS
	ModuleAttempts = 3      // max_attempts
)

// ModuleTypes lists the types of modules.
func ModuleTypes() []string {
	return []string{"agent", "tool", "service", "router", "adapter", "memory"}
}

// immutable is the refusal of a change of what never changes, by MACE's name.
func immutable(field string) *Error {
	return Errorf(CodeConflict, field, "ImmutableFieldError: it never changes; nothing was changed")
}

// The bounds of a module's registration.
const (
	maxModuleList = 64
	maxModuleText = 200 // bytes of one of its texts
	maxModuleTime = 366 * 24 * 3600
	maxTimeout    = 24 * 3600 * 1000
	maxAttempts   = 10
)

// Check refuses what is no module, by its field.
func (m *Module) Check(measures []string) error {
	wrong := func(field, format string, args ...any) error { return Errorf(CodeInvalid, field, format, args...) }
	switch {
	case !slices.Contains(ModuleTypes(), m.Type):
		return wrong("type", "name one of %v", ModuleTypes())
	case m.Version == "" || len(m.Version) > maxModuleText || len(m.Name) > maxModuleText:
		return wrong("version", "give a version, and texts of at most %d bytes", maxModuleText)
	case m.Timeout < 1 || m.Timeout > maxTimeout:
		return wrong("agent_timeout_ms", "give 1 to %d", maxTimeout)
	case m.Attempts < 1 || m.Attempts > maxAttempts:
		return wrong("max_attempts", "give 1 to %d", maxAttempts)
	}
	for _, l := range []struct {
		field string
		globs []string
	}{{"policy.allowed_actions", m.Policy.Allowed}, {"policy.forbidden_actions", m.Policy.Forbidden},
		{"policy.immutable_actions", m.Policy.Immutable}, {"code", m.Code}, {"external_services", m.Services}} {
		if len(l.globs) > maxModuleList || slices.ContainsFunc(l.globs, func(g string) bool {
			return g == "" ||
				len(g) > maxModuleText
		}) {
			return wrong(l.field, "name at most %d, each of 1 to %d bytes", maxModuleList, maxModuleText)
		}
	}
	if n := slices.IndexFunc(m.Code, func(g string) bool {
		return !strings.HasPrefix(g, "/") && !strings.Contains(g,
			":/")
	}); n >= 0 {
		return wrong("code", "%.80q is no absolute path, as /srv/agent/* is", m.Code[n])
	}
	for _, action := range m.Policy.Immutable {
		if !slices.Contains(m.Policy.Allowed, action) && !slices.Contains(m.Policy.Forbidden, action) {
			return wrong("policy.immutable_actions", "%.80q is neither allowed nor forbidden, word for word", action)
		}
	}
	for n, b := range m.Budgets {
		twice := slices.ContainsFunc(m.Budgets[:n], func(o ModuleBudget) bool { return o.Measure == b.Measure })
		if !slices.Contains(measures, b.Measure) || twice {
			return wrong("budgets", "%.40q is no measure, or stands twice; name each of %v once at most", b.Measure, measures)
		}
		if b.Most < 0 || b.Within < 1 || b.Within > maxModuleTime {
			return wrong("budgets", "give most, not less than 0, and within_s, of 1 to %d", maxModuleTime)
		}
	}
	return nil
}

// Fixed refuses another registration of a module that changes what never changes: who registered it and when, its type, and in which list
// of its policy an immutable action stands (MACE governance, immutable fields).
func (m *Module) Fixed(to *Module) error {
	switch {
	case m.Registration.By != to.Registration.By:
		return immutable("registration.registered_by")
	case !m.Registration.At.Equal(to.Registration.At):
		return immutable("registration.registered_at")
	case m.Type != to.Type:
		return immutable("type")
	}
	for _, action := range m.Policy.Immutable {
		if !slices.Contains(to.Policy.Immutable, action) {
			return immutable("policy.immutable_actions")
		}
		if slices.Contains(m.Policy.Allowed, action) != slices.Contains(to.Policy.Allowed, action) {
			return immutable("policy.allowed_actions")
		}
		if slices.Contains(m.Policy.Forbidden, action) != slices.Contains(to.Policy.Forbidden, action) {
			return immutable("policy.forbidden_actions")
		}
	}
	return nil
}

// A Widening is one thing that another registration of a module gives it beyond what it has.
type Widening struct {
	Field string
	By    string // the type of request that gives it
}

// The types of requests that give modules more.
const (
	ActModuleAction = "module_allow_action"
	ActModuleBudget = "budget_exceed"
	ActService      = "external_service_enable"
	ActModuleCode   = "self_modification"
)

// Widens lists what another registration of a module gives it beyond what it has. Of one that is registered for the first time m is nil:
// services then take the council as well.
func (m *Module) Widens(to *Module) (list []Widening) {
	was := m
	if was == nil {
		was = &Module{Policy: to.Policy, Budgets: to.Budgets, Timeout: to.Timeout, Attempts: to.Attempts}
	}
	lacks := func(has, gets []string) bool {
		return slices.ContainsFunc(gets, func(g string) bool { return !slices.Contains(has, g) })
	}
	gives := func(is bool, field, by string) {
		if is {
			list = append(list, Widening{field, by})
		}
	}
	gives(lacks(to.Code, was.Code), "code", ActModuleCode)
	gives(lacks(was.Services, to.Services), "external_services", ActService)
	gives(to.Persist && !was.Persist, "persist_external_outputs", ActService)
	bound := len(was.Policy.Allowed) > 0
	gives(bound && (len(to.Policy.Allowed) == 0 || lacks(was.Policy.Allowed, to.Policy.Allowed)), "policy.allowed_actions",
		ActModuleAction)
	gives(lacks(to.Policy.Forbidden, was.Policy.Forbidden), "policy.forbidden_actions", ActModuleAction)
	gives(to.Timeout > was.Timeout, "agent_timeout_ms", ActModuleBudget)
	gives(to.Attempts > was.Attempts, "max_attempts", ActModuleBudget)
	gives(slices.ContainsFunc(was.Budgets, func(b ModuleBudget) bool {
		return !slices.ContainsFunc(to.Budgets, func(o ModuleBudget) bool {
			return o.Measure == b.Measure && o.Most <= b.Most && o.Within >= b.Within
		})
	}), "budgets", ActModuleBudget)
	return list
}
