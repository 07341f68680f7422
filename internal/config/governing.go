package config

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"interlock"
)

// A Governing says of one setting what makes it weaker, so that this takes an order in a home which somebody governs, or why nothing
// does. Adding a setting begins with a row of [Settings].
type Governing struct {
	Name   string // as in the settings file, within a group behind its name and a dot
	Weaker string // what makes it weaker; empty: nothing does
	Free   string // why nothing does
	// Private: its value names people or secrets, so that an order names it by digest and the log is not told
	Private bool

	at   func(*Config) any                   // where it is
	join func(base, want Config, at *Config) // puts the stricter of both there
}

// Governs reports whether it takes an order to make the setting weaker.
func (g Governing) Governs() bool { return g.Weaker != "" }

// same reports whether two settings say the same of it.
func (g Governing) same(a, b *Config) bool { return reflect.DeepEqual(g.at(a), g.at(b)) }

// What makes settings weaker, in the words of the table.
const (
	weakerLonger  = "longer"
	weakerMore    = "a greater number"
	weakerAnother = "anything else than was ordered"
	weakerAdded   = "one more"
	weakerGone    = "one less; those that were ordered and those that are named both count"
	weakerOn      = "true"
	weakerOff     = "false"
)

// Why nothing makes some settings weaker.
const (
	freeBound   = "bounds what the program uses, and no answer"
	freeAddress = "where it listens; who is believed there is another setting's matter"
	freeCert    = "whose certificate it shows; who is believed is another setting's matter"
	freeServer  = "what is called through the gateway is decided all the same, and its tools are pinned"
)

// Settings lists every setting there is, in the order of the manual. A test holds it against the type.
func Settings() []Governing {
	return slices.Concat(decisionSettings(), serverSettings(), recordSettings(), mcpSettings(), sandboxSettings(), gatewaySettings(), judgeSettings())
}

// decisionSettings are those that a verdict, or what becomes of one, turns on.
func decisionSettings() []Governing {
	return []Governing{
		governing("rules", "another directory, where the one that was ordered is there: rules that are not read object to nothing",
			func(c *Config) *string { return &c.Rules }, joinRules),
		{Name: "rules_signed", Weaker: "noted", at: func(c *Config) any { return &c.RulesSigned },
			join: func(base, want Config, c *Config) {
				if base.RulesNeedOrder() || want.RulesNeedOrder() {
					c.RulesSigned = SigningRequired
				}
			}},
		governing("profile", "any other, but for managed, supervised or asa in place of guard, and asa in place of supervised",
			func(c *Config) *string { return &c.Profile }, joinProfile),
		governing("mode", "monitoring, logging and disabled, each weaker than the one before",
			func(c *Config) *interlock.Mode { return &c.Mode }, lesser),
		governing("hook_texts", weakerTexts, func(c *Config) *TextRuleset { return &c.HookTexts }, strictestTexts),
		governing("unattended", weakerOff, func(c *Config) *bool { return &c.Unattended }, either),
		governing("production", weakerGone, func(c *Config) *[]string { return &c.Production }, all),
		governing("approval_ttl", weakerLonger, func(c *Config) *Duration { return &c.ApprovalTTL }, lesser),
		governing("council.quorum", weakerAnother, func(c *Config) *int { return &c.Council.Quorum }, ordered),
		governing("council.vote_window", weakerAnother, func(c *Config) *Duration { return &c.Council.Window }, ordered),
		governing("council.request_timeout", weakerAnother, func(c *Config) *Duration { return &c.Council.Timeout }, ordered),
		governing("council.approval_wait", weakerAnother, func(c *Config) *Duration { return &c.Council.Wait }, ordered),
		governing("council.review_window", weakerAnother, func(c *Config) *Duration { return &c.Council.Review }, ordered),
		governing("council.audit_window", weakerAnother, func(c *Config) *Duration { return &c.Council.Audit }, ordered),
		governing("council.governs", weakerOff, func(c *Config) *bool { return &c.Council.Governs }, either),
		governing("council.second_factor", weakerOff, func(c *Config) *bool { return &c.Council.Second }, either),
		governing("memory.enabled", weakerOn+": agents keep facts, and what one has kept another may be told",
			func(c *Config) *bool { return &c.Memory.Enabled }, both),
		governing("memory.shared", weakerAdded, func(c *Config) *[]string { return &c.Memory.Shared }, common),
		governing("memory.ttl", weakerLonger, func(c *Config) *Duration { return &c.Memory.TTL }, shortest(memoryTTL)),
		free("memory.facts", freeBound, func(c *Config) *int { return &c.Memory.Facts }),
		governing("code_ttl", weakerLonger, func(c *Config) *Duration { return &c.CodeTTL }, lesser),
		private(governing("channels", "anything else than was ordered, one more included: codes go there",
			func(c *Config) *[]Channel { return &c.Channels }, ordered)),
		governing("quiet_hours", weakerAnother+": in them more is refused and less is told",
			func(c *Config) *Hours { return &c.QuietHours }, ordered),
		governing("tell_user_after", weakerMore, func(c *Config) *int { return &c.TellUserAfter }, lesser),
		governing("max_questions", weakerMore, func(c *Config) *int { return &c.MaxQuestions }, lesser),
	}
}

// serverSettings are those of `interlock up`.
func serverSettings() []Governing {
	return []Governing{
		free("listen", freeAddress, func(c *Config) *string { return &c.Listen }),
		free("control", "what comes in there only tightens", func(c *Config) *string { return &c.Control }),
		governing("kill_on", weakerGone, func(c *Config) *[]interlock.SignalKind { return &c.KillOn }, all),
		governing("kill_confirm", weakerLonger, func(c *Config) *Duration { return &c.KillConfirm }, lesser),
		free("digest_at", "it tells people what the log says, and decides nothing", func(c *Config) *string { return &c.DigestAt }),
		governing("allow_remote", weakerOn, func(c *Config) *bool { return &c.AllowRemote }, both),
		governing("hosts", weakerAdded, func(c *Config) *[]string { return &c.Hosts }, common),
		governing("console_url", weakerAnother+": people sign in there", func(c *Config) *string { return &c.ConsoleURL }, ordered),
		governing("push_hosts", weakerAdded+": a browser could have messages sent to it, inside",
			func(c *Config) *[]string { return &c.PushHosts }, common),
		free("max_concurrent", freeBound, func(c *Config) *int { return &c.MaxConcurrent }),
		free("max_concurrent_per_agent", freeBound, func(c *Config) *int { return &c.MaxConcurrentPerAgent }),
	}
}

// recordSettings are those of what is kept.
func recordSettings() []Governing {
	return []Governing{
		private(governing("checkpoint_to", weakerGone, func(c *Config) *[]string { return &c.CheckpointTo }, all)),
		governing("witnesses", weakerGone, func(c *Config) *[]Witness { return &c.Witnesses }, all),
		private(governing("ship_to", weakerGone, func(c *Config) *[]Shipment { return &c.ShipTo }, all)),
		private(governing("otlp_to.to", weakerAnother+": who acts, and what was refused, is told there",
			func(c *Config) *string { return &c.OTLPTo.To }, ordered)),
		private(governing("otlp_to.token", weakerAnother+": it is sent there", func(c *Config) *string { return &c.OTLPTo.Token }, ordered)),
		free("otlp_to.every", freeBound, func(c *Config) *Duration { return &c.OTLPTo.Every }),
		governing("forget_inputs", weakerOn, func(c *Config) *bool { return &c.ForgetInputs }, both),
		{Name: "privacy.log", Weaker: "keep", at: func(c *Config) any { return &c.Privacy.Log }, join: joinPrivacy},
		governing("archive_after", "shorter", func(c *Config) *Duration { return &c.ArchiveAfter },
			func(base, want Duration) Duration { return longest(base, want) }),
		governing("archive_to", weakerAnother, func(c *Config) *string { return &c.ArchiveTo }, ordered),
		governing("redteam.every", "longer, or never", func(c *Config) *Duration { return &c.Redteam.Every }, oftener),
		governing("redteam.cases", "fewer", func(c *Config) *int { return &c.Redteam.Cases }, mostCases),
	}
}

// mcpSettings are those of the MCP server.
func mcpSettings() []Governing {
	return []Governing{
		governing("mcp_acknowledge", weakerOff, func(c *Config) *bool { return &c.MCPAcknowledge }, either),
		free("mcp_executions", freeBound, func(c *Config) *int { return &c.MCPExecutions }),
		free("mcp_idle", freeBound, func(c *Config) *Duration { return &c.MCPIdle }),
		governing("mcp_token_ttl", weakerLonger, func(c *Config) *Duration { return &c.MCPTokenTTL }, shortest(5*time.Minute)),
		governing("mcp_forbidden_token_ttl", weakerLonger, func(c *Config) *Duration { return &c.MCPForbiddenTokenTTL },
			shortest(2*time.Minute)),
		governing("mcp_clock_tolerance", weakerLonger, func(c *Config) *Duration { return &c.MCPClockTolerance },
			shortest(30*time.Second)),
	}
}

// gatewaySettings are those of the gateway.
func gatewaySettings() []Governing {
	return []Governing{
		free("gateway.servers", freeServer, func(c *Config) *[]GatewayServer { return &c.Gateway.Servers }),
		free("gateway.listen", freeAddress, func(c *Config) *string { return &c.Gateway.Listen }),
		free("gateway.url", "what clients are told", func(c *Config) *string { return &c.Gateway.URL }),
		governing("gateway.hosts", weakerAdded, func(c *Config) *[]string { return &c.Gateway.Hosts }, common),
		governing("gateway.origins", weakerAdded, func(c *Config) *[]string { return &c.Gateway.Origins }, common),
		governing("gateway.allow_remote", weakerOn, func(c *Config) *bool { return &c.Gateway.Remote }, both),
		governing("gateway.auth.issuers", "one more, or one that is not as it was ordered: its agents are believed",
			func(c *Config) *[]GatewayIssuer { return &c.Gateway.Auth.Issuers }, common),
		free("gateway.tls.cert", freeCert, func(c *Config) *string { return &c.Gateway.TLS.Cert }),
		free("gateway.tls.key", freeCert, func(c *Config) *string { return &c.Gateway.TLS.Key }),
		governing("gateway.tls.client_ca", weakerAnother, func(c *Config) *string { return &c.Gateway.TLS.ClientCA }, ordered),
		governing("gateway.tls.client", weakerAnother, func(c *Config) *string { return &c.Gateway.TLS.Client }, ordered),
		governing("gateway.tls.client_name", weakerAnother, func(c *Config) *string { return &c.Gateway.TLS.Agent }, ordered),
		free("gateway.sessions", freeBound, func(c *Config) *int { return &c.Gateway.Sessions }),
		free("gateway.connections", freeBound, func(c *Config) *int { return &c.Gateway.Connections }),
		free("gateway.connections_per_address", freeBound, func(c *Config) *int { return &c.Gateway.PerAddress }),
		free("gateway.patience", "how long a call waits for its answer", func(c *Config) *Duration { return &c.Gateway.Patience }),
		governing("gateway.record", "objections", func(c *Config) *GatewayRecord { return &c.Gateway.Record },
			func(base, want GatewayRecord) GatewayRecord {
				if base != RecordObjections && want == RecordObjections {
					return base
				}
				return want
			}),
		{Name: "gateway.texts", Weaker: "one that takes less out", at: func(c *Config) any { return &c.Gateway.Texts },
			join: func(base, want Config, c *Config) {
				if was := base.Gateway.Texts.under(c.Profile); want.Gateway.Texts.under(c.Profile).strictness() < was.strictness() {
					c.Gateway.Texts = was
				}
			}},
		governing("gateway.trust_on_first_use", "true, or leaving out a false that was ordered",
			func(c *Config) **bool { return &c.Gateway.TrustOnFirstUse }, func(base, want *bool) *bool {
				if trusting(base) < trusting(want) {
					return base
				}
				return want
			}),
	}
}

// judgeSettings are those of what second-guesses actions.
func judgeSettings() []Governing {
	return []Governing{
		governing("judge.rules", weakerAnother+": what is forbidden stands there",
			func(c *Config) *string { return &c.Judge.Rules }, ordered),
		governing("judge.canary.every", weakerLonger, func(c *Config) *Duration { return &c.Judge.Canary.Every }, shortest(time.Duration(judgeCanary))),
		governing("judge.canary.deny", weakerAnother, func(c *Config) *string { return &c.Judge.Canary.Deny }, ordered),
		governing("judge.canary.allow", weakerAnother, func(c *Config) *string { return &c.Judge.Canary.Allow }, ordered),
		governing("judge.judges", "anything else than was ordered, one more included: what agents do is told there",
			func(c *Config) *[]JudgeModel { return &c.Judge.Judges }, ordered),
		governing("judge.when", "judges are heard less often", func(c *Config) *JudgeWhen { return &c.Judge.When }, joinWhen),
		governing("judge.remember", weakerLonger, func(c *Config) *Duration { return &c.Judge.Remember }, shortest(time.Duration(judgeRemember))),
		governing("judge.budgets", weakerAnother+": without money nobody is heard, and nothing passes",
			func(c *Config) *[]JudgeBudget { return &c.Judge.Budgets }, ordered),
		governing("judge.after", weakerAdded+": it is done before its judge is heard", func(c *Config) *[]string { return &c.Judge.After }, common),
		governing("judge.sample", weakerAdded+", or a smaller share", func(c *Config) *map[string]int { return &c.Judge.Sample }, joinSample),
		governing("judge.owed", weakerMore, func(c *Config) *int { return &c.Judge.Owed }, joinOwed),
		governing("judge.within", weakerLonger, func(c *Config) *Duration { return &c.Judge.Within }, shortest(time.Duration(judgeAnswer))),
		governing("judge.reasoning", weakerGone, func(c *Config) *[]ReasoningModel { return &c.Judge.Reasoning }, all),
	}
}

// trusting is how much is trusted on first use: nothing, programs, everything.
func trusting(said *bool) int {
	switch {
	case said == nil:
		return 1
	case *said:
		return 2
	}
	return 0
}

// sandboxSettings are those of `interlock exec`.
func sandboxSettings() []Governing {
	return []Governing{
		governing("sandbox.profile", weakerAnother, func(c *Config) *string { return &c.Sandbox.Profile }, ordered),
		{Name: "sandbox.profiles", Weaker: "more of anything, or fewer patterns of `startup`; a profile that was not ordered is held " +
			"against the default", at: func(c *Config) any { return &c.Sandbox.Profiles },
			join: func(base, want Config, c *Config) { c.Sandbox.Profiles = strictProfiles(base.Sandbox, want.Sandbox) }},
	}
}

func governing[T any](name, weaker string, at func(*Config) *T, join func(base, want T) T) Governing {
	return Governing{Name: name, Weaker: weaker, at: func(c *Config) any { return at(c) },
		join: func(base, want Config, c *Config) { *at(c) = join(*at(&base), *at(&want)) }}
}

func free[T any](name, why string, at func(*Config) *T) Governing {
	return Governing{Name: name, Free: why, at: func(c *Config) any { return at(c) }}
}

func private(g Governing) Governing {
	g.Private = true
	return g
}

// Baseline is what a home's settings are while nobody has set or ordered anything.
func Baseline(home string) Config {
	c := Defaults()
	c.Home, c.Rules = home, filepath.Join(home, "rules")
	return c
}

// Stricter returns the settings that are in force where base was ordered, or is what nobody need order, and want is what somebody
// has written: of every setting the stricter. weaker are the settings in which want has no effect.
func Stricter(base, want Config) (inForce Config, weaker []Governing) {
	inForce = want
	for _, g := range Settings() {
		if !g.Governs() {
			continue
		}
		g.join(base, want, &inForce)
		if !g.same(&want, &inForce) && !(g.Name == "rules_signed" && want.RulesNeedOrder()) &&
			!(g.Name == "privacy.log" && want.RedactsPersonal()) { // which the profile said by itself
			weaker = append(weaker, g)
		}
	}
	return inForce, weaker
}

// Departures are the governing settings that are other than the baseline's, as JSON by name: what an order says.
func Departures(c Config) (map[string]json.RawMessage, error) {
	found := map[string]json.RawMessage{}
	base := Baseline(c.Home)
	if c.Rules == "" {
		c.Rules = base.Rules
	}
	c.Sandbox.Profiles = c.Sandbox.whole()
	for _, g := range Settings() {
		if !g.Governs() || g.same(&base, &c) {
			continue
		}
		text, err := json.Marshal(g.at(&c))
		if err != nil {
			return nil, err
		}
		found[g.Name] = text
	}
	return found, nil
}

// Ordered are the settings of a home in which an order says these departures from the baseline.
func Ordered(home string, departures map[string]json.RawMessage) (Config, error) {
	c, left := Baseline(home), len(departures)
	for _, g := range Settings() {
		text, said := departures[g.Name]
		if !said || !g.Governs() {
			continue
		}
		left--
		if err := json.Unmarshal(text, g.at(&c)); err != nil {
			return c, interlock.Errorf(interlock.CodeInvalid, g.Name, "the order says something of it that can't be read")
		}
	}
	if left > 0 {
		return c, interlock.Errorf(interlock.CodeInvalid, "settings", "the order is about settings that this program does not know")
	}
	return c, nil
}

// Shown is what a setting says, as JSON without what is not set.
func (g Governing) Shown(c Config) string {
	var said any
	text, err := json.Marshal(g.at(&c))
	if err == nil {
		err = json.Unmarshal(text, &said)
	}
	if err == nil {
		text, err = json.Marshal(pruned(said))
	}
	if err != nil {
		return "?"
	}
	return string(text)
}

// pruned leaves out the members of objects that say nothing.
func pruned(value any) any {
	switch v := value.(type) {
	case []any:
		for i := range v {
			v[i] = pruned(v[i])
		}
	case map[string]any:
		for name, member := range v { // order-independent: each is looked at by itself
			if member == nil || member == "" || member == false {
				delete(v, name)
			} else {
				v[name] = pruned(member)
			}
		}
	}
	return value
}
