package interlock_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// dependencyTable says who may import whom. "A < B" lets every package of B import every package of A, and whatever A's
// packages may import of this module. Modules of others are named by path and are not passed on: who needs one names it.
// Folders of cmd/interlock are not part of everything.
// Names stand for internal/NAME, except interlock (the root), rules, spec, embedded, mcpguard, bench and cmd. The standard
// library is open to all but the pure set. Test files may import more. A note in brackets forbids on top of the rest.
const dependencyTable = `
std only                                                < interlock, lex, secret, personal, account, bubblewrap, fileio, hostname
std only                                                < rules, spec, rpc, sse, witness, advice, startup, linediff
linediff                                                < harness, sandbox
interlock, github.com/go-json-experiment/json           < strictjson
strictjson, github.com/goccy/go-yaml                    < strictyaml
strictyaml, secret                                      < ruleset, quorum, classify    (never each other)
github.com/cedar-policy/cedar-go                        < ruleset
strictjson, github.com/google/jsonschema-go             < contract
contract                                                < ruleset
inject                                                  < modality
modality, contract                                      < admission/core
lex                                                     < inject
personal, inject                                        < classify
inject                                                  < gate
strictyaml, secret, inject                              < impact/fact
impact/fact                                             < impact/know
impact/know                                             < impact/place
impact/place                                            < impact/web, impact/flow
impact/flow                                             < impact/sql
impact/sql, impact/web                                  < impact/program
impact/program                                          < impact/foreign, impact/windows    (never each other)
impact/foreign, impact/windows                          < impact/shell
impact/shell                                            < impact/call
impact/call                                             < impact/prose
impact/prose                                            < impact
mvdan.cc/sh/v3                                          < impact/flow, impact/shell
impact, rules, github.com/google/go-cmp                 < impact/impacttest
strictjson, golang.org/x/mod                            < auditlog
witness                                                 < auditlog, hook, harness, httpapi, cosign
fileio, golang.org/x/mod                                < cosign
strictjson                                              < origin, memory    (never each other)
origin, memory                                          < ledger, store/storagetest
interlock, personal                                     < privacy
privacy                                                 < ledger, store/storagetest
ledger                                                  < auditlog, archive
impact, ruleset, classify                               < gate
gate, quorum                                            < engine
strictjson                                              < question
question                                                < admission/core
interlock                                               < groundrules
interlock                                               < meter
meter                                                   < phase, ruleset, ledger, judge, mcpgateway, mcphttp, httpapi, upstream
interlock, strictjson                                   < redteam
phase                                                   < ledger, store/storagetest
std only                                                < anomaly
anomaly                                                 < ledger, store/storagetest
interlock                                               < module
module                                                  < ledger, gate
engine, auditlog                                        < replay, admission/core
auditlog, impact                                        < dataflow
dataflow, ruleset                                       < rollback
rollback                                                < admission/core
origin, ledger                                          < admission/core
admission/core                                          < admission/containment, admission/pinning    (never each other)
admission/containment                                   < admission/judging, admission/messages    (never each other)
admission/judging, admission/messages                   < admission/runs
admission/runs, admission/pinning                       < admission/governance
admission/governance                                    < admission
ledger                                                  < replay
admission                                               < explain
explain                                                 < console
admission, question, replay                             < judgetest
engine                                                  < ruletest
interlock                                               < notice
notice                                                  < admission/core, notify, upstream
interlock                                               < gitwork, identity, judge, sandbox, upstream, notify, bus, store/sqlite, store/postgres    (never each other)
interlock                                               < webpush
github.com/hiddeco/sshsig, golang.org/x/crypto          < identity
golang.org/x/term, github.com/go-webauthn/webauthn      < identity
github.com/go-jose/go-jose/v4                           < identity
std                                                     < mcpaql/published, identity/passkeytest, strictjson/filltest, webpush/pushtest
ledger                                                  < identity, webpush, store/driver, store/proof, store/storagetest
store/driver, store/proof                               < store/sqlite, store/postgres    (never each other)
github.com/klauspost/compress                           < pack
auditlog, filippo.io/age                                < vault
auditlog, fileio                                        < archive, ship
auditlog                                                < digest, judgments
judgments                                               < admission/core, console
pack, fileio, modernc.org/sqlite                        < store/sqlite
interlock, github.com/google/go-cmp                     < store/storagetest
github.com/ncruces/zenity                               < notify
strictyaml, fileio                                      < config
fileio                                                  < notify, upstream, identity, gitwork    (never each other)
strictjson                                              < judge
secret, github.com/zalando/go-keyring                   < upstream
golang.org/x/sys                                        < upstream, lineage
fileio, ledger                                          < kill
fileio, github.com/tailscale/hujson                     < harness
github.com/pelletier/go-toml/v2                         < harness
harness                                                 < lineage
admission, archive, store/sqlite                        < store
admission                                               < hook, httpapi, mcpaql, mcpgateway, console, control    (never each other, never store)
github.com/google/jsonschema-go                         < mcpgateway
mcpgateway                                              < mcphttp
hostname                                                < httpapi, mcphttp, sandbox, webpush, control
advice                                                  < hook
account                                                 < httpapi
rpc                                                     < mcpaql, mcpgateway, upstream
lex, rpc                                                < telling
telling                                                 < mcpgateway
sse                                                     < console, httpapi, mcphttp, upstream
bubblewrap                                              < hook, sandbox
identity, ruletest, webpush                             < console
admission, judgments, replay                            < console/render
console/render                                          < console/stats
identity                                                < console/signin
console/stats, console/signin                           < console
replay                                                  < console, httpapi
ledger                                                  < otlp
go.opentelemetry.io/proto/slim/otlp                     < otlp
google.golang.org/protobuf                              < otlp
otlp                                                    < httpapi
github.com/modelcontextprotocol/go-sdk                  < mcpaql, mcpaql/evidence
mcpaql/published                                        < mcpaql/evidence
spec, fileio                                            < conform
conform                                                 < conform/mace
github.com/modelcontextprotocol/go-sdk                  < conform/aql
conform, mcpaql/evidence                                < conform/aql
auditlog                                                < maturity
account, config, mcpgateway, embedded                   < mcpguard
github.com/modelcontextprotocol/go-sdk                  < mcpguard
account, hook, harness, secret, lineage, witness        < cmd/interlock-hook
std only                                                < test/clients, test/harnesses, test/sdk, test/chromium, test/terminal, test/browser, test/docs
std only                                                < test/otel, test/system, test/product, test/wait, test/racing
std only                                                < bench/redteam, bench/mutants, release
github.com/yuin/goldmark                                < docs/generator
everything                                              < embedded, cmd/interlock    (never store/sqlite, never store/postgres)
everything                                              < cmd/interlock/cli, cmd/interlock/audit    (never store/sqlite, never store/postgres)
everything                                              < cmd/interlock/tune, cmd/interlock/try, cmd/interlock/people    (never store/sqlite, never store/postgres)
everything                                              < cmd/interlock/rules, cmd/interlock/answer, cmd/interlock/stop    (never store/sqlite, never store/postgres)
everything                                              < cmd/interlock/prove, cmd/interlock/setup, cmd/interlock/serve    (never store/sqlite, never store/postgres)
cmd/interlock/cli                                       < cmd/interlock/audit, cmd/interlock/tune, cmd/interlock/try, cmd/interlock/people
cmd/interlock/audit                                     < cmd/interlock/rules, cmd/interlock/answer, cmd/interlock/stop, cmd/interlock/prove
cmd/interlock/tune                                      < cmd/interlock/rules, cmd/interlock/setup
cmd/interlock/try                                       < cmd/interlock/answer, cmd/interlock/prove
cmd/interlock/people                                    < cmd/interlock/prove
cmd/interlock/prove                                     < cmd/interlock/setup
cmd/interlock/answer, cmd/interlock/setup               < cmd/interlock/serve
cmd/interlock/rules, cmd/interlock/stop                 < cmd/interlock
cmd/interlock/serve                                     < cmd/interlock
everything                                              < bench/eval, bench/run, bench/screens    (never store/sqlite, never store/postgres)
`

// pureSet are the packages that are functions of their arguments: no clock, randomness, files, network, logging or
// goroutines, and nothing that depends on the order of a map. purity_test.go says what that means and checks it.
const pureSet = `interlock, lex, secret, personal, inject, strictjson, strictyaml, impact, impact/fact, impact/know, ` +
	`impact/place, impact/web, impact/flow, impact/sql, impact/program, impact/foreign, impact/windows, impact/shell, impact/call, ` +
	`impact/prose, ruleset, meter, quorum, classify, gate, engine, auditlog, origin, ledger, phase, anomaly, digest, replay, ruletest, redteam, ` +
	`module, memory, witness, privacy, dataflow, rollback, contract, modality, question, groundrules, store/proof`

// A dependencyRule is what the table says of one package.
type dependencyRule struct {
	modules []string // of others, by path
	direct  []string // of this module, by name in the table
	never   []string // names it must not even reach through others
	all     bool     // the whole module and every module go.mod names
}

// parseDependencies reads the table's form. Anything that does not fit is an error, so that a typing mistake can't
// switch a rule off.
func parseDependencies(table string) (map[string]*dependencyRule, error) {
	rules := make(map[string]*dependencyRule)
	var notes []func() error
	for _, line := range strings.Split(strings.TrimSpace(table), "\n") {
		rest, note, noted := strings.Cut(line, "(")
		left, right, ok := strings.Cut(rest, "<")
		if !ok || (noted && !strings.HasSuffix(note, ")")) {
			return nil, fmt.Errorf("table: line %q is not of the form A < B (note)", line)
		}
		right = strings.TrimSpace(right)
		names := splitNames(right)
		for _, name := range names {
			if rules[name] == nil {
				rules[name] = &dependencyRule{}
			}
			for _, from := range splitNames(left) {
				switch {
				case from == "std" || from == "std only":
				case from == "everything":
					rules[name].all = true
				case strings.Contains(strings.Split(from, "/")[0], "."):
					rules[name].modules = append(rules[name].modules, from)
				default:
					rules[name].direct = append(rules[name].direct, from)
				}
			}
		}
		if noted {
			notes = append(notes, func() error { return applyNote(rules, names, strings.TrimSuffix(note, ")")) })
		}
	}
	for _, apply := range notes {
		if err := apply(); err != nil {
			return nil, err
		}
	}
	for name, rule := range rules {
		for _, from := range rule.direct {
			if rules[from] == nil {
				return nil, fmt.Errorf("table: %s may import %s, which no line introduces", name, from)
			}
		}
	}
	return rules, nil
}

// applyNote adds what a bracketed note forbids to each of names: "never each other" or "never NAME" (and all below it).
func applyNote(rules map[string]*dependencyRule, names []string, note string) error {
	for _, part := range splitNames(note) {
		what, ok := strings.CutPrefix(part, "never ")
		if !ok {
			return fmt.Errorf("table: note %q is not understood", part)
		}
		for _, name := range names {
			if what != "each other" {
				rules[name].never = append(rules[name].never, what)
				continue
			}
			for _, other := range names {
				if other != name {
					rules[name].never = append(rules[name].never, other)
				}
			}
		}
	}
	return nil
}

func splitNames(list string) []string {
	var names []string
	for _, name := range strings.Split(list, ",") {
		names = append(names, strings.TrimSpace(name))
	}
	return names
}

// reach returns the names that name may import, through whatever they may import.
func reach(rules map[string]*dependencyRule, name string, seen map[string]bool) {
	for _, from := range rules[name].direct {
		if !seen[from] {
			seen[from] = true
			reach(rules, from, seen)
		}
	}
}

// checkDependencies holds the packages against the table and returns one sentence for each violation, naming the file.
func checkDependencies(table string, packages []*goPackage) ([]string, error) {
	rules, err := parseDependencies(table)
	if err != nil {
		return nil, err
	}
	var problems []string
	exists := make(map[string]bool)
	for _, p := range packages {
		name := tableName(p.path)
		exists[name] = true
		rule := rules[name]
		if rule == nil {
			problems = append(problems, fmt.Sprintf("%s: package %s is not in the dependency table", p.dir, name))
			continue
		}
		allowed := make(map[string]bool)
		reach(rules, name, allowed)
		for _, f := range p.files {
			for _, path := range f.imports() {
				if reason := forbidden(name, rule, allowed, path); reason != "" {
					problems = append(problems, fmt.Sprintf("%s: %s", f.name, reason))
				}
			}
		}
	}
	for name := range rules {
		if !exists[name] {
			problems = append(problems, fmt.Sprintf("table: there is no package %s", name))
		}
	}
	sort.Strings(problems)
	return problems, nil
}

// forbidden says why the package of that name may not import path, or "".
func forbidden(name string, rule *dependencyRule, allowed map[string]bool, path string) string {
	own := path == modulePath || strings.HasPrefix(path, modulePath+"/")
	if !own && !strings.Contains(strings.Split(path, "/")[0], ".") {
		return "" // the standard library
	}
	if !own {
		within := func(module string) bool { return path == module || strings.HasPrefix(path, module+"/") }
		if rule.all || slices.ContainsFunc(rule.modules, within) {
			return ""
		}
		return fmt.Sprintf("%s must not import %s: the table names no such module for it", name, path)
	}
	target := tableName(path)
	for _, never := range rule.never {
		if target == never || strings.HasPrefix(target, never+"/") {
			return fmt.Sprintf("%s must not import %s: the table says never", name, target)
		}
	}
	if rule.all && target != "spec" && !strings.HasPrefix(target, "cmd/interlock/") || allowed[target] {
		return ""
	}
	if target == "spec" {
		return fmt.Sprintf("%s must not import spec: it is for tests", name)
	}
	return fmt.Sprintf("%s must not import %s: no line of the table leads there", name, target)
}

// tableName is how the table writes an import path of this module.
func tableName(path string) string {
	name := strings.TrimPrefix(strings.TrimPrefix(path, modulePath+"/"), "internal/")
	return name
}

func TestDependenciesFollowTheTable(t *testing.T) {
	problems, err := checkDependencies(dependencyTable, loadModule(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems {
		t.Error(problem)
	}
}

// The bounds of a package without its tests: beyond them nobody finds anything in it.
const (
	maxPackageFiles = 40
	maxPackageLines = 8000
	maxCommandFiles = 120 // of cmd/interlock and everything below it
)

// oversized are the packages that are over a bound and stay: one reader, whose parts need each other. The check says when one no longer
// is too large.
var oversized = []string{"impact/shell"}

// checkSizes holds packages against their bounds and returns one sentence for each that is over one.
func checkSizes(packages []*goPackage, oversized []string) (problems []string) {
	over, commands := map[string]string{}, 0
	for _, p := range packages {
		lines := 0
		for _, f := range p.files {
			lines += strings.Count(string(f.source), "\n")
		}
		name := tableName(p.path)
		if name == "cmd/interlock" || strings.HasPrefix(name, "cmd/interlock/") {
			commands += len(p.files)
		}
		if len(p.files) > maxPackageFiles || lines > maxPackageLines {
			over[name] = fmt.Sprintf("%s: %d files of %d lines in all; a package has at most %d files and %d lines", p.dir, len(p.files),
				lines, maxPackageFiles, maxPackageLines)
		}
	}
	if commands > maxCommandFiles {
		over["cmd/interlock"] = fmt.Sprintf("cmd/interlock: %d files with all below it; at most %d", commands, maxCommandFiles)
	}
	for name, problem := range over {
		if !slices.Contains(oversized, name) {
			problems = append(problems, problem)
		}
	}
	for _, name := range oversized {
		if over[name] == "" {
			problems = append(problems, name+" is within its bounds: take it off the list of those that are not")
		}
	}
	sort.Strings(problems)
	return problems
}

func TestPackagesAreWithinTheirBounds(t *testing.T) {
	for _, problem := range checkSizes(loadModule(t), oversized) {
		t.Error(problem)
	}
}

// TestPackageBoundsBite proves the enforcement: a package of too many files, one of too many lines, one that no longer is too
// large.
func TestPackageBoundsBite(t *testing.T) {
	made := func(dir string, files, lines int) *goPackage {
		p := &goPackage{dir: dir, path: modulePath + "/" + dir}
		for range files {
			p.files = append(p.files, &goFile{source: []byte(strings.Repeat("\n", lines))})
		}
		return p
	}
	got := checkSizes([]*goPackage{made("internal/sound", 40, 200), made("internal/many", 41, 1), made("internal/long", 3, 2667),
		made("internal/known", 41, 1), made("cmd/interlock", 30, 1), made("cmd/interlock/runs", 31, 1),
		made("cmd/interlock/people", 40, 1), made("cmd/interlock/rules", 40, 1)}, []string{"known", "sound"})
	want := []string{
		"cmd/interlock: 141 files with all below it; at most 120",
		"internal/long: 3 files of 8001 lines in all; a package has at most 40 files and 8000 lines",
		"internal/many: 41 files of 41 lines in all; a package has at most 40 files and 8000 lines",
		"sound is within its bounds: take it off the list of those that are not",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// TestDependencyRulesBite proves the enforcement: each fixture module breaks one rule, and exactly that is reported.
func TestDependencyRulesBite(t *testing.T) {
	const table = `
std only                    < interlock
interlock, example.com/json < strictjson
interlock                   < judge, notify    (never each other)
strictjson                  < admission, store/sqlite
admission                   < hook, httpapi    (never each other, never store)
admission, store/sqlite     < store
everything                  < cmd/interlock    (never store/sqlite)
std only                    < spec
`
	for fixture, want := range map[string][]string{
		"sound":              nil,
		"unlisted-package":   {"internal/extra: package extra is not in the dependency table"},
		"missing-package":    {"table: there is no package notify"},
		"wrong-direction":    {"doc.go: interlock must not import strictjson: no line of the table leads there"},
		"foreign-module":     {"internal/admission/doc.go: admission must not import example.com/json/sub: the table names no such module for it"},
		"adapter-to-adapter": {"internal/judge/doc.go: judge must not import notify: the table says never"},
		"door-to-door":       {"internal/hook/doc.go: hook must not import httpapi: the table says never"},
		"door-to-store":      {"internal/hook/doc.go: hook must not import store/sqlite: the table says never"},
		"wiring-to-backend":  {"cmd/interlock/doc.go: cmd/interlock must not import store/sqlite: the table says never"},
		"spec-outside-tests": {"cmd/interlock/doc.go: cmd/interlock must not import spec: it is for tests"},
		"two-violations-named": {"internal/judge/doc.go: judge must not import admission: no line of the table leads there",
			"internal/judge/doc.go: judge must not import example.com/json: the table names no such module for it"},
	} {
		t.Run(fixture, func(t *testing.T) {
			got, err := checkDependencies(table, loadFixture(t, "dependencies.txtar", fixture))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDependencyTableRefusesNonsense(t *testing.T) {
	for name, tc := range map[string]struct{ table, want string }{
		"no arrow":       {"interlock strictjson", "is not of the form"},
		"open bracket":   {"std only < interlock (never each other", "is not of the form"},
		"unknown note":   {"std only < interlock, judge (rarely each other)", `note "rarely each other" is not understood`},
		"unknown import": {"interlok < strictjson", "strictjson may import interlok, which no line introduces"},
	} {
		if _, err := parseDependencies(tc.table); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want %q", name, err, tc.want)
		}
	}
}

// TestThePictureIsOfTheHouse: what the picture of an action's way names are packages of the table, and every door is in it.
func TestThePictureIsOfTheHouse(t *testing.T) {
	text, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "## An action's way\n")
	_, rest, _ = strings.Cut(rest, "\n```\n")
	picture, _, drawn := strings.Cut(rest, "\n```\n")
	if !drawn {
		t.Fatal("docs/architecture.md has no picture of an action's way")
	}
	rules, err := parseDependencies(dependencyTable)
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, m := range regexp.MustCompile(`\[([^]]*)\]`).FindAllStringSubmatch(picture, -1) {
		if named[m[1]] = true; rules[m[1]] == nil {
			t.Errorf("the picture names %s, which is no package of the table", m[1])
		}
	}
	for name, rule := range rules {
		door, _, _ := strings.Cut(name, "/") // a door may have rooms of its own
		if slices.Contains(rule.direct, "admission") && !named[door] {
			t.Errorf("%s is a door, and the picture of an action's way does not have it", name)
		}
	}
}

// TestTheHookProgramHasNoJudge: the small program that harnesses start for every call links nothing of judges, of what asks them or of
// their ground rules: it begins as fast as it did without them. The whole program has them.
func TestTheHookProgramHasNoJudge(t *testing.T) {
	packages := map[string]*goPackage{}
	for _, p := range loadModule(t) {
		packages[p.path] = p
	}
	links := func(program string) (found []string) {
		seen, next := map[string]bool{}, []string{modulePath + "/" + program}
		for len(next) > 0 {
			path := next[0]
			next = next[1:]
			p := packages[path]
			if p == nil || seen[path] {
				continue
			}
			seen[path] = true
			room := strings.HasPrefix(tableName(path), "admission/")
			if room || slices.Contains([]string{"judge", "judgetest", "question", "groundrules", "admission"}, tableName(path)) {
				found = append(found, tableName(path))
			}
			for _, f := range p.files {
				next = append(next, f.imports()...)
			}
		}
		slices.Sort(found)
		return found
	}
	if found := links("cmd/interlock-hook"); len(found) > 0 {
		t.Errorf("cmd/interlock-hook links %v", found)
	}
	if found := links("cmd/interlock"); !slices.Contains(found, "judge") {
		t.Errorf("cmd/interlock links %v, so this test finds nothing", found)
	}
}
