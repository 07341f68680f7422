package prove

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/internal/admission"
	"interlock/internal/auditlog"
	"interlock/internal/fileio"
	"interlock/internal/ruleset"
	"interlock/internal/ruletest"
	"interlock/internal/strictjson"
	"interlock/rules"
)

// A registration is a file that says of an agent what a request to register it as a module says.
type registration struct {
	Name string `json:"file"`
	Text string `json:"registration"`
}

type registrations []registration

// The bounds of what is read of a change.
const (
	maxRegistration = 64 << 10
	maxSnapshots    = 64 << 10
)

// readRegistrations reads the agents of a change in the order of their names; none where no directory is named.
func readRegistrations(dir string) (list registrations, err error) {
	if dir == "" {
		return nil, nil
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, interlock.Errorf(interlock.CodeNotFound, "--agents", "%s can't be read: %s", dir, fileio.Reason(err))
	}
	for _, f := range files { // in the order of their names
		if f.IsDir() || filepath.Ext(f.Name()) != ".json" {
			continue
		}
		text, err := fileio.Plain(filepath.Join(dir, f.Name()), maxRegistration)
		if err != nil {
			return nil, interlock.Errorf(interlock.CodeInvalid, "--agents", "%s can't be read: %s", f.Name(), fileio.Reason(err))
		}
		list = append(list, registration{f.Name(), string(text)})
	}
	if len(list) == 0 {
		return nil, interlock.Errorf(interlock.CodeNotFound, "--agents", "%s has no *.json; each is what --params of "+
			"interlock request create module_register takes", dir)
	}
	return list, nil
}

// held holds each of them against the rules.
func (l registrations) held(e *admission.Evaluator) (cases int, problems []ruletest.Problem) {
	for _, r := range l {
		n, wrong := ruletest.Module(e.Rules, e.Analyser, r.Name, []byte(r.Text))
		cases, problems = cases+n, append(problems, wrong...)
	}
	return cases, problems
}

// carriedSchema is the schema of a file of snapshots; snapshotAgents names the one of agents in it.
const (
	carriedSchema  = "interlock.snapshots/v1"
	agentsSchema   = "interlock.agents/v1"
	snapshotAgents = "agents"
	carriedFile    = "snapshots.json"
)

// carried are the snapshots that a change carries (MACE 9.1): what its rules, texts and agents are once it is in force.
type carried struct {
	Schema    string                           `json:"schema"`
	Snapshots map[string]auditlog.SnapshotName `json:"snapshots"`
}

// carriedBy are those of what is here.
func carriedBy(e *admission.Evaluator, agents registrations) (carried, error) {
	documents, err := ruleset.Documents(rules.Defaults(), e.Own)
	if err != nil {
		return carried{}, err
	}
	c := carried{Schema: carriedSchema, Snapshots: map[string]auditlog.SnapshotName{
		auditlog.SnapshotRuleset: auditlog.NameRuleset(e.Rules.Digest(), auditlog.BlobDigest(documents)),
	}}
	if texts := e.Texts.Snapshot(); texts != nil {
		c.Snapshots[auditlog.SnapshotSafety] = auditlog.NameSnapshot(auditlog.SafetySchema, texts)
	}
	if len(agents) > 0 {
		text, err := strictjson.Marshal(agents)
		if err != nil {
			return carried{}, err
		}
		c.Snapshots[snapshotAgents] = auditlog.NameSnapshot(agentsSchema, text)
	}
	return c, nil
}

// snapshots holds the snapshots that the change carries against what is here, or writes them. A change that nobody asked to carry any is told
// how, and one of agents always carries them.
func (c *CICommand) snapshots(p *cli.Program, e *admission.Evaluator, agents registrations) (said string, problems []ruletest.Problem,
	err error) {
	file := c.Snapshots
	if file == "" && p.Globals.RulesDir != "" {
		file = filepath.Join(p.Globals.RulesDir, carriedFile)
	}
	if file == "" && (c.Write || c.Agents != "") {
		return "", nil, cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--snapshots", "name the file, or --rules beside which it is"))
	}
	now, err := carriedBy(e, agents)
	if err != nil || file == "" {
		return "none are carried", nil, err
	}
	text, err := strictjson.Marshal(now)
	if err != nil {
		return "", nil, err
	}
	if c.Write {
		if err := os.WriteFile(file, append(text, '\n'), 0o644); err != nil { //nolint:gosec // it goes into the change
			return "", nil, interlock.Errorf(interlock.CodeUnavailable, "--snapshots", "%s can't be written: %s", file, fileio.Reason(err))
		}
		return "written to " + quoted(filepath.Base(file)), nil, nil
	}
	had, err := fileio.Plain(file, maxSnapshots)
	switch {
	case errors.Is(err, fs.ErrNotExist) && c.Snapshots == "" && c.Agents == "":
		return "none are carried; `--write-snapshots` writes " + carriedFile + " for the change to carry", nil, nil
	case err != nil:
		return "missing", []ruletest.Problem{{Rule: filepath.Base(file), Message: "can't be read: " + fileio.Reason(err) +
			"; --write-snapshots writes it, and the change carries it"}}, nil
	}
	problems = now.against(filepath.Base(file), bytes.TrimSpace(had))
	if len(problems) > 0 {
		return "others than the change makes", problems, nil
	}
	return "as the change carries them", nil, nil
}

// against says how the snapshots of a file differ from these.
func (c carried) against(file string, text []byte) (problems []ruletest.Problem) {
	var had carried
	if err := strictjson.Decode(text, &had); err != nil || had.Schema != carriedSchema {
		return []ruletest.Problem{{Rule: file, Message: "is of no form that is known here; --write-snapshots writes it"}}
	}
	for _, name := range []string{auditlog.SnapshotRuleset, auditlog.SnapshotSafety, snapshotAgents} {
		want, needed := c.Snapshots[name]
		have, there := had.Snapshots[name]
		switch {
		case needed && !there:
			problems = append(problems, ruletest.Problem{Rule: file, Message: "MISSING_SNAPSHOT: it names no snapshot of " + name})
		case !needed && there:
			problems = append(problems, ruletest.Problem{Rule: file, Message: "it names a snapshot of " + name + ", and none is here"})
		case needed && have != want:
			problems = append(problems, ruletest.Problem{Rule: file, Message: "INTEGRITY_FAILURE: the snapshot of " + name +
				" is not the one that the change makes"})
		}
	}
	return problems
}
