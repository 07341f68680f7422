// Package config is the one place where Interlock's settings are named. The comments on Config are the manual.
//
// Settings come from the defaults, then the file interlock.yaml in the home directory (or --config FILE), then flags. A
// setting that is not known, or has the wrong type, is refused with its line; a missing file is not an error, an
// unreadable one is. Every field's zero value is safe.
package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/fileio"
	"interlock/internal/strictyaml"
)

// Config holds every setting.
type Config struct {
	// Home holds the store, the keys, the socket and interlock.yaml. Mode 0700. Default: the user's data directory
	// (~/.local/share/interlock, ~/Library/Application Support/Interlock or %LocalAppData%\Interlock); INTERLOCK_HOME
	// overrides it.
	Home string `json:"-"`
	// Rules is a directory of YAML files that add to the default rules. They can add objections and autoApprove
	// heuristics; they can't remove or weaken a default. Default: rules in Home, if it exists.
	Rules string `json:"rules"`
	// RulesSigned says what becomes of rules in the rules directory that no operator with the admin role has ordered, once there is
	// such an operator. `noted`: they are in force; the log, `interlock doctor`, `interlock audit verify` and the console say that
	// nobody ordered them, and people are told. `required`: the last rules that were ordered stay in force in their place, and where
	// there are none nothing is decided. `interlock rules adopt` orders what is in the directory, `interlock rules promote` a
	// candidate. The program's own rules need no order. Default: required under the profile mace-stage1, noted under the others.
	RulesSigned Signing `json:"rules_signed"`
	// Profile names the base verdicts: guard, supervised, managed, autonomous, mace-stage1 or asa. Default: guard.
	Profile string `json:"profile"`
	// Mode says what is done with verdicts: enforcing, monitoring, logging or disabled. Default: enforcing.
	Mode interlock.Mode `json:"mode"`
	// Unattended says that nobody is there to answer: every Ask is answered Deny with a request id. Default: false.
	Unattended bool `json:"unattended"`
	// Production lists globs of names (hosts, contexts, databases, branches, buckets) that are production, beside the
	// built-in ones.
	Production []string `json:"production"`
	// Listen is the address of the HTTP API. Only loopback addresses are accepted unless AllowRemote is set. Default:
	// 127.0.0.1:7433. "off" serves the socket only.
	Listen string `json:"listen"`
	// AllowRemote permits Listen to be an address other machines reach. Put TLS in front of it. Default: false.
	AllowRemote bool `json:"allow_remote"`
	// Control is the address of the control door, through which what watches agents from outside stops everything: POST /v1/kill with
	// the token in the file control.token in Home, which `interlock up` makes. Only loopback addresses are accepted unless
	// AllowRemote is set. Default: none, so that only `interlock kill` and the console stop everything.
	Control string `json:"control"`
	// KillOn lists the kinds of signals (context, quality, anomaly, drift, dlp, fraud, health) that stop everything once one of an
	// observer is critical. Default: none, so that people are told and decide.
	KillOn []interlock.SignalKind `json:"kill_on"`
	// KillConfirm is how long people have to decline what an observer asks to be stopped (POST /v1/kill with its token), as a Go duration: then
	// everything is stopped whether anybody answered or not. From 1s to 1h. Default: 5m.
	KillConfirm Duration `json:"kill_confirm"`
	// DigestAt is the time of day, in the time zone of this machine and as "08:00", from which on a running server tells people once what
	// the day before came to, on the channels (see `interlock digest`). Default: none.
	DigestAt string `json:"digest_at"`
	// Hosts lists further names under which clients reach the HTTP API, as host or host:port: those of a service in a cluster or of
	// a proxy in front of it. Under any other name but localhost's it answers nobody. Default: none.
	Hosts []string `json:"hosts"`
	// ConsoleURL is where browsers reach the console: https://HOST behind TLS, or http://localhost:PORT. Passkeys are made for
	// its host. Default: http://localhost with the port of Listen.
	ConsoleURL string `json:"console_url"`
	// PushHosts lists push services that notifications of the console's browsers may go to although they are at addresses of this
	// machine or of networks inside, by host name or address. Others are spoken to at public addresses only. Default: none.
	PushHosts []string `json:"push_hosts"`
	// ApprovalTTL is how long a request waits and an approval lives, as a Go duration such as "1h". Default: 1h.
	ApprovalTTL Duration `json:"approval_ttl"`
	// Council has the constants of governance (see docs/council.md): `quorum`, how many votes that are no abstentions a decision of the
	// council takes (default: 3); `vote_window`, in which votes count (24h); `request_timeout`, of a request as a whole (72h, no less
	// than the window); `approval_wait`, before an admin's approval that the council is told of counts (24h); `review_window`, in
	// which the council reviews an emergency override (72h); `audit_window`, how long an auditor reads unredacted once given that role
	// (2160h, which are 90 days); and `governs`, by which orders that change rules or settings take the
	// council's approval as well (false).
	Council Council `json:"council"`
	// Memory has agents keep facts (see docs/memory.md): `enabled` (false); `shared`, the scopes of keys that all agents read and write,
	// where all others are each agent's own (none); `ttl`, how long an episodic fact is kept, from 1m to 8784h (720h); and `facts`,
	// how many of one agent, and shared ones in all, each store holds (10000, which is the most).
	Memory Memory `json:"memory"`
	// CheckpointTo lists files and HTTPS URLs that `interlock up` sends each new signed checkpoint to, so that a log cut
	// later contradicts something outside this machine's store. Default: none.
	CheckpointTo []string `json:"checkpoint_to"`
	// Witnesses are servers that cosign each new head of the log, by C2SP's tlog-witness protocol, if it goes on from what they saw before;
	// `interlock witness serve` is one. Each has `url`, an HTTPS address (http on this machine), and `key`, its public key, whose name is
	// the witness's. What they cosigned is kept in the directory witnessed of Home; `interlock audit verify --cosigned 1` requires it.
	// Default: none.
	Witnesses []Witness `json:"witnesses"`
	// ShipTo lists where `interlock up` sends every entry of the log, in order and at least once: each has `to` (a file,
	// https://..., syslog+tls://HOST:PORT), `format` (cloudevents, which is the default, ocsf or jsonl) and, for an HTTPS address,
	// `token` (env:NAME, file:PATH, keyring:SERVICE/ACCOUNT or credential:NAME). Default: none.
	ShipTo []Shipment `json:"ship_to"`
	// OTLPTo is a collector of OpenTelemetry's that `interlock up` tells of its decisions, as traces and metrics: `to`, an HTTPS address
	// (http on this machine) under which /v1/traces and /v1/metrics are, `token` (env:NAME, file:PATH,
	// keyring:SERVICE/ACCOUNT or credential:NAME), sent as a bearer token, and `every`, how often metrics are sent (default: 1m). What an action was is
	// not told. Default: none. The variables OTEL_... are not read.
	OTLPTo Collector `json:"otlp_to"`
	// CodeTTL is how long a code that a human was given for a blocked or paused agent counts, as a Go duration. Default: 5m.
	CodeTTL Duration `json:"code_ttl"`
	// Channels are the ways by which a code reaches a human, in the order they are tried: the first that takes it is the
	// only one, but for those with `always: true`. Each has a `kind` (email, webhook, slack, ntfy, dialog, console or
	// terminal), a `name` of its own, and a `floor`: verify (default) for all codes, danger_zone for those that lift a block
	// only, confirm for requests that wait for an answer as well, which `interlock up` tells of. email has `host`
	// (host:port), `tls` (starttls, tls, or none for this machine), `user`, `password`, `from` and `to`; webhook
	// `url` and `key`; slack `url`; ntfy `url` and `token`. Passwords, keys, tokens and a Slack address are
	// references, env:NAME, file:PATH or credential:NAME. To console and terminal nothing is sent: they say that an operator looks
	// there and has a code shown. Default: none, so that a code reaches nobody until an operator asks for one.
	Channels []Channel `json:"channels"`
	// QuietHours is when nobody is there, as "22:00-07:00" in the time zone of this machine, or with a zone behind it, as in
	// "22:00-07:00 Europe/Berlin". In between every Ask is answered Deny with a request id, as under unattended, and only
	// blocks are told to channels. Default: none.
	QuietHours Hours `json:"quiet_hours"`
	// MaxQuestions bounds what one agent may ask of its operators: so many requests waiting at once, and as many new ones
	// within an hour. Beyond it an Ask is answered Deny and nobody is asked. Default: 100.
	MaxQuestions int `json:"max_questions"`

	// TellUserAfter is after how many denials in a row of the same thing, however it is spelled, an agent is told to tell its user that it
	// can't be achieved within the present safety constraints, and the operators are told as well. Default: 3.
	TellUserAfter int `json:"tell_user_after"`
	// ForgetInputs has nothing kept of what decisions are made from: they can't be made again, and what other rules would have
	// decided can't be told of them. The rules' own texts are kept all the same. Default: false.
	ForgetInputs bool `json:"forget_inputs"`
	// Privacy says what becomes of personal data (see docs/privacy.md). `log` is redact or keep: with redact, data of the high and the medium
	// tier in what agents do, such as card numbers and e-mail addresses, is taken out of what is recorded and shown, as secrets are; what
	// decisions were made from is kept sealed. Default: redact under the profile mace-stage1, keep under the others.
	Privacy Privacy `json:"privacy"`
	// ArchiveAfter is how old entries of the log, and what their decisions were made from, get in the store, as a Go duration
	// of at least 72h such as "2160h": what is older, `interlock up` moves into ArchiveTo by itself, and `interlock audit archive`
	// when it is run. Events by which people govern stay in the store as well, and so does the hash of every entry. Nothing is
	// ever deleted that is not in an archive. Default: none, so that everything stays until somebody archives it.
	ArchiveAfter Duration `json:"archive_after"`
	// ArchiveTo is the directory, an absolute path, that old entries are archived into. Default: none; needed with ArchiveAfter.
	ArchiveTo string `json:"archive_to"`
	// Redteam has `interlock up` attack a throw-away home with this home's rules: `every` is how often, at least 1h, such as "168h" (default:
	// never), `cases` how many attacks each time (default: 700, at most 20000). What comes of it is a REDTEAM_REPORT in the log.
	Redteam Redteam `json:"redteam"`
	// MaxConcurrent bounds requests under way in the HTTP API; more get 503. Default: 1024.
	MaxConcurrent int `json:"max_concurrent"`
	// MaxConcurrentPerAgent bounds those of one agent, or of one address that shows no token; more get 429. Every agent keeps a
	// few that no other can take, and the hooks on the socket have as many of their own again. Default: a quarter of
	// max_concurrent.
	MaxConcurrentPerAgent int `json:"max_concurrent_per_agent"`
	// MCPAcknowledge has the MCP server answer CONFIRMATION_REQUIRED with a confirmation token where an operation's
	// permission wants the client's user asked, instead of leaving that to the client. Default: false.
	MCPAcknowledge bool `json:"mcp_acknowledge"`
	// MCPExecutions is how many executions an agent may have open in the MCP server. Default: 100.
	MCPExecutions int `json:"mcp_executions"`
	// MCPIdle ends an execution for which nobody has reported a step for so long. Default: 1h.
	MCPIdle Duration `json:"mcp_idle"`
	// MCPTokenTTL is how long a confirmation token lives, at most 15m. Default: 5m.
	MCPTokenTTL Duration `json:"mcp_token_ttl"`
	// MCPForbiddenTokenTTL is how long one for a forbidden operation lives, at most 5m. Default: 2m.
	MCPForbiddenTokenTTL Duration `json:"mcp_forbidden_token_ttl"`
	// MCPClockTolerance is how far clocks may differ when a confirmation token is redeemed, at most 5m; above 1m the server
	// warns. Default: 30s.
	MCPClockTolerance Duration `json:"mcp_clock_tolerance"`
	// Sandbox says what `interlock exec` gives to a command. `profile` names the one used where none is named; `profiles` are
	// profiles by name, beside default, build and scratch, each with `time` (60s), `memory` (512MB), `disk` (100MB),
	// `processes` (64), `files` (100), `output` (1MB), `overlay` (writes go to a throw-away copy), `sockets` (unix sockets may
	// be made), `hosts` (names or name:port that the built-in proxy may be asked for, each still decided), `read` (further
	// paths that are readable), `path` (further directories of PATH), `env` (names of variables that are passed on) and
	// `startup` (patterns of files that are protected because something obeys them later). Default: the profile default, with
	// the values in brackets, no host and the patterns in the sandbox's manual.
	Sandbox Sandbox `json:"sandbox"`
	// HookTexts is what results of tools are classified by before an agent behind a hook sees them, as far as its harness lets a hook
	// replace them: off, results or mace-stage1. Default: off.
	HookTexts TextRuleset `json:"hook_texts"`
	// Gateway is what `interlock gateway` is in front of, and how it serves clients over HTTP. `servers` are MCP
	// servers, in the order in which they are started, each with a `name` of its own (letters, digits, _ and -) and
	// either `command`, a program, with `args`, `env` and `dir` (an absolute path), or `url`, an address, with
	// `headers` and `ca` (a file of further authorities). A program sees PATH, HOME and a few other variables, and
	// those of `env`. Values of `env` and `headers` that are secret are references, env:NAME, file:PATH,
	// keyring:SERVICE/ACCOUNT or credential:NAME (what systemd hands over), with "Bearer " before them where a header wants that;
	// what looks like a secret and is
	// none is refused. `after` names servers that are started before this one, `enabled: false` leaves it out,
	// `connect_timeout` (10s) and `stop_timeout` (2s) are how long it may take to be reached and to exit. `listen` is
	// an address of its own at which `interlock up` serves the gateway (default: at /gateway beside the API). Only
	// loopback addresses are accepted, here and in `interlock gateway --listen`, unless `allow_remote` and `tls` are
	// set. `url` is where clients reach it (default: as they say); `hosts` are further names it answers to and
	// `origins` web pages that may call it (default: none); `sessions` bounds those open at once (default: 1000),
	// `connections` the connections of clients at an address of the gateway's own (default: 2048) and
	// `connections_per_address` those from one remote address, or one /64 network of IPv6 (default: 256); raise it
	// where clients come through a proxy. Registered agents show their tokens. `auth` has `issuers`, authorization
	// servers whose access tokens are taken as well, each with `name`, `issuer`, `audience` (a list), and as needed
	// `jwks` (default: as the issuer's metadata says), `algorithms` (default: RS256, PS256, ES256, EdDSA),
	// `agent_claim` (default: client_id) and `principal_claim` (default: sub), a claim's name or a path to it such as
	// /act/sub, and `scopes`: a token needs all of them. Such an agent is called NAME:CLAIM, with the issuer's name.
	// `tls` has `cert` and `key`, files in PEM form, read again when they change; `client_ca`, a file of authorities
	// whose client certificates are taken; `client`, required (default) or optional; and `client_name`, the field
	// that names the agent of a client without a token, uri, dns, email or cn: it is called tls:FIELD. `patience` is
	// how long a call is held for a human to answer, as a Go duration, before its client gets a handle to come back
	// with; keep it below the client's own timeout (default: 20s; at most 50s count for clients that can't be told
	// that they wait). `trust_on_first_use` says whether the tools that a server offers when it is first seen are
	// approved as they are: anyone who has changed the server before that is believed. What is new or changes later, and
	// what speaks to the model, is in quarantine until an operator approves it either way; with false, everything is
	// (default: true for programs, false for addresses). `record` is all, or objections: then calls that nothing
	// objects to leave no event and wait for no disk, in modes that enforce nothing; while verdicts bind, all is
	// recorded whatever it says (default: all). `texts` is what servers' answers are classified by before a client sees them: off, results,
	// or mace-stage1, which takes out every tier of personal data (default: mace-stage1 under that profile, else off).
	Gateway Gateway `json:"gateway"`
	// Judge is what second-guesses actions that no gate denies, by rules in plain words. `rules` is the file of ground rules that
	// are added to those that ship, relative to Home (default: ground-rules.md, if it is there). `judges` are language models, each
	// with a `name` of its own (lower-case letters, digits and -), a `wire` (openai-chat, openai-responses, anthropic or command)
	// and a `model`, its exact version. `url` is where it is reached: /chat/completions, /responses or /v1/messages are added to it;
	// without TLS only on this machine. `key` is a reference, env:NAME, file:PATH, keyring:SERVICE/ACCOUNT or credential:NAME;
	// `ca` a file of the only authorities that vouch for the server (default: those of the system), `proxy` the address of a proxy
	// (default: none, whatever the environment says). `command` is a program with its arguments instead, which runs in a sandbox
	// without network, of the profile that `sandbox` names. `answers_as` is what the model calls itself in answers (default: as
	// model), `seed` a number that is sent with each question (default: 0), `omit` what the server does not take: temperature,
	// seed, format, or max_tokens
	// where it is called max_completion_tokens. `timeout` (30s), `max_payload` (64KB; what is longer is for people),
	// `context` (32768) the tokens that its window holds, and a
	// question should take less than 85 % of them, `max_answer_tokens` (300), `in_flight` (8) questions at once and `waiting` (64)
	// bound it. `price_in` and `price_out` are for a
	// million tokens in `currency`, `price_cached` for those that the provider had kept (default: as price_in). `canary` is how
	// judges are tested: `every` (15m), `deny` and `allow`, a command that each must deny and one that it must allow (default: one
	// that sends keys away and deletes a home, and ls -l). `reasoning` declares what agents think with, each with `url`, `model` and
	// `key`: a judge that is the same model at the same place, or uses the same credential, is refused. `when` says on which actions
	// judges are heard, where the profile does not want them heard on all: changes (default), outward (what reaches beyond the
	// workspace, or can't be undone) or all. `remember` (5m, at most 24h) is how long an Allow counts for an equal action; denials
	// always do. `budgets` bound what judges may cost: each has a `name`, `most`, such as USD 5, `per` (agent or class; default: all
	// together) and a `window` (default: for ever); what is used up denies. `after` names classes of action, such as write
	// workspace, on which judges are heard after the action was let through, and `sample` in which classes only so many of a hundred
	// are judged (1 to 99); both only of what can be undone for certain, so that other classes are refused. `owed` (256, at most
	// 10000) is how many judgments may be owed at once; what is more is judged before. `within` (10m, 1m to 24h) is how long a judge
	// has to answer: what it denies then, or does not answer in time, is taken back. Default: no judge.
	Judge Judge `json:"judge"`
}

// Signing says what an operator's rules need to be in force. The zero value is what the profile says.
type Signing string

// What rules need.
const (
	SigningNoted    Signing = "noted"
	SigningRequired Signing = "required"
)

// UnmarshalText reads noted or required.
func (s *Signing) UnmarshalText(text []byte) error {
	switch v := Signing(text); v {
	case SigningNoted, SigningRequired:
		*s = v
		return nil
	}
	return interlock.Errorf(interlock.CodeInvalid, "", "%.40q is neither noted nor required", text)
}

// signedProfile is the profile that demands an order for every change of its rules: MACE counts that among what is high-risk.
const signedProfile = "mace-stage1"

// RulesNeedOrder reports whether rules that nobody ordered may not be in force.
func (c *Config) RulesNeedOrder() bool {
	return c.RulesSigned == SigningRequired || c.RulesSigned == "" && c.Profile == signedProfile
}

// A Shipment is one place that every entry of the log is sent to.
type Shipment struct {
	To     string `json:"to"`
	Format string `json:"format"`
	Token  string `json:"token"`
}

// A Witness is a server that cosigns the log's heads.
type Witness struct {
	URL string `json:"url"`
	Key string `json:"key"`
}

// A Collector is where telemetry is sent.
type Collector struct {
	To    string   `json:"to"`
	Token string   `json:"token"`
	Every Duration `json:"every"`
}

// Duration is a time.Duration written as text, such as "90s".
type Duration time.Duration

// UnmarshalText reads a positive Go duration.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil || v <= 0 {
		return interlock.Errorf(interlock.CodeInvalid, "", "%.40q is not a positive duration such as 90s or 1h", text)
	}
	*d = Duration(v)
	return nil
}

// MarshalText writes the duration as Go does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// Defaults returns the settings of a home in which nothing is set.
func Defaults() Config {
	return Config{Profile: "guard", Listen: "127.0.0.1:7433", ApprovalTTL: Duration(time.Hour),
		CodeTTL: Duration(5 * time.Minute), KillConfirm: Duration(5 * time.Minute),
		MaxQuestions: 100, TellUserAfter: 3, MaxConcurrent: 1024}
}

// Load returns the settings for a home directory. file is the --config flag; empty means interlock.yaml in home.
func Load(home, file string) (Config, error) {
	c := Defaults()
	named := file != ""
	if !named {
		file = filepath.Join(home, "interlock.yaml")
	}
	data, err := fileio.Own(file, strictyaml.MaxBytes, fileio.Settled)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !named:
	case err != nil:
		return c, interlock.Errorf(interlock.CodeInvalid, "--config", "the settings file can't be read: %v", reasonOf(err))
	case blank(data): // every setting is left to its default
	default:
		if err := strictyaml.Decode(filepath.Base(file), data, &c); err != nil {
			return c, err
		}
	}
	c.Home = home
	if c.Rules == "" {
		if rules := filepath.Join(home, "rules"); there(rules) || there(rules+".promoted") { // which is taking its place
			c.Rules = rules
		}
	}
	if err := c.Council.check(); err != nil {
		return c, err
	}
	if err := c.Memory.check(); err != nil {
		return c, err
	}
	if c.TellUserAfter <= 0 || c.TellUserAfter > 16 {
		return c, interlock.Errorf(interlock.CodeInvalid, "tell_user_after", "must be from 1 to 16")
	}
	if c.MaxQuestions <= 0 {
		return c, interlock.Errorf(interlock.CodeInvalid, "max_questions", "must be at least 1")
	}
	if c.MaxConcurrent <= 0 {
		return c, interlock.Errorf(interlock.CodeInvalid, "max_concurrent", "must be at least 1")
	}
	if c.MaxConcurrentPerAgent < 0 {
		return c, interlock.Errorf(interlock.CodeInvalid, "max_concurrent_per_agent", "must be at least 1")
	}
	for _, kind := range c.KillOn {
		if !slices.Contains(interlock.SignalKinds(), kind) {
			return c, interlock.Errorf(interlock.CodeInvalid, "kill_on", "%.20q is no kind of signal; name some of %v", kind, interlock.SignalKinds())
		}
	}
	if c.KillConfirm < Duration(time.Second) || c.KillConfirm > Duration(time.Hour) {
		return c, interlock.Errorf(interlock.CodeInvalid, "kill_confirm", "must be from 1s to 1h")
	}
	if _, err := time.Parse("15:04", c.DigestAt); c.DigestAt != "" && err != nil {
		return c, interlock.Errorf(interlock.CodeInvalid, "digest_at", "%.20q is no time of day such as 08:00", c.DigestAt)
	}
	for _, host := range c.Hosts {
		if host == "" || strings.ContainsAny(host, "/*@? \t") {
			return c, interlock.Errorf(interlock.CodeInvalid, "hosts", "%.60q is no name such as host or host:port", host)
		}
	}
	if err := c.checkArchive(); err != nil {
		return c, err
	}
	if err := c.Gateway.check(); err != nil {
		return c, err
	}
	if err := c.Judge.check(); err != nil {
		return c, err
	}
	if err := c.Redteam.check(); err != nil {
		return c, err
	}
	return c, c.Sandbox.check()
}

// archiveAge is how old what is archived is at least.
const archiveAge = Duration(72 * time.Hour)

func (c *Config) checkArchive() error {
	switch {
	case c.ArchiveAfter != 0 && c.ArchiveAfter < archiveAge:
		return interlock.Errorf(interlock.CodeInvalid, "archive_after", "must be at least 72h: younger entries are referred to still")
	case c.ArchiveAfter != 0 && c.ArchiveTo == "":
		return interlock.Errorf(interlock.CodeInvalid, "archive_to", "is missing; name the directory that archive_after is to fill")
	case c.ArchiveTo != "" && !filepath.IsAbs(c.ArchiveTo):
		return interlock.Errorf(interlock.CodeInvalid, "archive_to", "must be an absolute path")
	}
	return nil
}

// DefaultHome is where Interlock keeps its data if nobody says otherwise.
func DefaultHome(getenv func(string) string) (string, error) {
	if home := getenv("INTERLOCK_HOME"); home != "" {
		return filepath.Abs(home)
	}
	user, err := os.UserHomeDir()
	if err != nil {
		return "", interlock.Errorf(interlock.CodeInvalid, "--home", "is needed: this user has no home directory")
	}
	switch runtime.GOOS {
	case "darwin":
		return filepath.Join(user, "Library", "Application Support", "Interlock"), nil
	case "windows":
		if local := getenv("LocalAppData"); local != "" {
			return filepath.Join(local, "Interlock"), nil
		}
		return filepath.Join(user, "AppData", "Local", "Interlock"), nil
	default:
		if data := getenv("XDG_DATA_HOME"); filepath.IsAbs(data) {
			return filepath.Join(data, "interlock"), nil
		}
		return filepath.Join(user, ".local", "share", "interlock"), nil
	}
}

// maxSocketPath is what every system's sockaddr_un can hold, with its final NUL.
const maxSocketPath = 100

// Socket is the path of the server's unix socket for a home directory. A home too deep for a socket address gets one in
// the temporary directory, named after the home and guarded by the directory it is in.
func Socket(home string) string {
	path := filepath.Join(home, "interlock.sock")
	if len(path) <= maxSocketPath {
		return path
	}
	sum := sha256.Sum256([]byte(home))
	return filepath.Join(os.TempDir(), "interlock-"+hex.EncodeToString(sum[:8]), "sock")
}

// blank reports whether a settings file says nothing: it is empty or all comments.
func blank(data []byte) bool {
	for _, line := range strings.Split(string(data), "\n") {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return false
		}
	}
	return true
}

// there reports whether a path names something, or may: what can't be looked at is not taken for missing.
func there(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

func reasonOf(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "it does not exist"
	case errors.Is(err, fs.ErrPermission):
		return "permission denied"
	case errors.As(err, new(*fs.PathError)):
		return "it can't be opened"
	default:
		return err.Error()
	}
}
