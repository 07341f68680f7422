package call

import (
	"slices"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/know"
	"interlock/internal/impact/shell"
	"interlock/internal/lex"
)

// maxContent is how much of what is written into a file is read as code. Longer files are data more often than not, and what
// they do is judged when they run.
const maxContent = 128 << 10

// content reads what is written into a file that something will run: a script, a program, a build file. Writing code is
// everyday work and what it does is judged when it runs, so one finding alone is kept: code that would attack, open a
// door, or send secrets away. It is recorded as what the file would do and never as what the write does.
func (s callRun) content(tool string, p know.Place, text string) {
	if len(text) > maxContent || !s.Spend(len(text)/64+1) {
		return
	}
	found, hooked := s.attackIn(p, text)
	if !found {
		return
	}
	traits := []string{fact.TraitHostile}
	if hooked {
		traits = append(traits, fact.TraitHooked)
	}
	s.Add(interlock.Impact{Kind: interlock.ImpactExecute, Target: p.Path, Reach: p.Reach, Via: tool,
		Reversibility: interlock.Irreversible,
		Confidence:    interlock.Inferred, Traits: traits})
}

// attackIn reports whether a file's text, read as what its name or first line makes it, would attack, and whether it runs without
// anybody asking for it.
func (s callRun) attackIn(p know.Place, text string) (found, unasked bool) {
	low := strings.ToLower(p.Path[strings.LastIndexAny(p.Path, "/\\")+1:])
	first, _, _ := strings.Cut(text, "\n")
	names := func(interpreter string) bool {
		return strings.HasPrefix(first, "#!") && strings.Contains(first, interpreter)
	}
	switch {
	case low == "package.json":
		for _, line := range shell.InstallScripts(text) {
			found = found || s.attacks(interlock.KindShell, line, true)
		}
		return found, true
	case low == "makefile" || low == "gnumakefile" || low == "justfile" || endsIn(low, ".mk"):
		return s.attacks(interlock.KindShell, recipes(text), false), false
	case strings.HasPrefix(low, "dockerfile") || strings.HasPrefix(low, "containerfile") || endsIn(low, ".dockerfile"):
		return s.attacks(interlock.KindShell, runLines(text), false), false
	case strings.HasPrefix(low, "jenkinsfile") || endsIn(low, ".jenkinsfile"):
		return sendsSecrets(jobOf(text)), false
	case endsIn(low, ".yml", ".yaml"):
		found = fact.HasTrait(p.Traits, fact.TraitCI) && sendsSecrets(text)
		for _, block := range runBlocks(text) {
			found = found || fact.HasTrait(p.Traits, fact.TraitCI) && s.sendsNamed(block)
			found = found || s.attacks(interlock.KindShell, block, false)
		}
		return found, false
	case endsIn(low, ".py") || names("python"):
		return s.attacks(interlock.KindPython, text, false), low == "setup.py" || low == "sitecustomize.py" ||
			low == "conftest.py"
	case endsIn(low, ".js", ".mjs", ".cjs", ".ts") || names("node"):
		return s.attacks(interlock.KindJavaScript, text, low == ".pnpmfile.cjs"), low == ".pnpmfile.cjs"
	case endsIn(low, ".sh", ".bash", ".zsh") || low == ".envrc" || names("sh"):
		return s.attacks(interlock.KindShell, text, false), false
	}
	return false, false
}

// endsIn reports whether a name has one of the endings.
func endsIn(name string, endings ...string) bool {
	for _, ending := range endings {
		if strings.HasSuffix(name, ending) {
			return true
		}
	}
	return false
}

// attacks reports whether code would attack if it ran. unasked says that it runs without anybody asking for it, and then
// taking something from a network to run it is enough.
func (s callRun) attacks(kind interlock.Kind, text string, unasked bool) bool {
	if strings.TrimSpace(text) == "" {
		return false
	}
	inner := s.Apart()
	inner.Nested(kind, text)
	s.Work = inner.Work
	for _, i := range inner.Impacts {
		changes := i.Kind != interlock.ImpactRead && i.Reversibility != interlock.Readonly
		switch {
		case i.Has(fact.TraitReverseShell), i.Has(fact.TraitSecretSend), i.Has(fact.TraitBomb), i.Has(fact.TraitMalice),
			changes && i.Has(fact.TraitDevice) && i.Has(fact.TraitOverwrite), i.Kind == interlock.ImpactDelete &&
				i.Has(fact.TraitRoot) && i.Reach != interlock.ReachWorkspace,
			changes && i.Reach == interlock.ReachSelf, i.Has(fact.TraitDecoded) && i.Kind == interlock.ImpactExecute,
			unasked && (i.Has(fact.TraitDownloadRun) || i.Kind == interlock.ImpactNetwork && i.Reach == interlock.ReachExternal &&
				(i.Has(fact.TraitUpload) || i.Has(fact.TraitDownload))):
			return true
		}
	}
	return false
}

// recipes returns the commands of a Makefile, as a script.
func recipes(text string) string {
	var out strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		if command, ok := strings.CutPrefix(line, "\t"); ok {
			out.WriteString(strings.ReplaceAll(strings.TrimLeft(command, "@-+ \t"), "$$", "$"))
			out.WriteByte('\n')
		}
	}
	return out.String()
}

// runLines returns the commands of a Dockerfile, as a script.
func runLines(text string) string {
	var out strings.Builder
	going := false
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		command, runs := strings.CutPrefix(line, "RUN ")
		if !runs {
			command, runs = strings.CutPrefix(line, "run ")
		}
		if !runs && !going || going && strings.HasPrefix(line, "#") {
			continue
		}
		if runs {
			for strings.HasPrefix(command, "--") { // --mount=…, --network=…
				_, command, _ = strings.Cut(command, " ")
			}
		}
		going = strings.HasSuffix(command, "\\")
		out.WriteString(command)
		out.WriteByte('\n')
	}
	return out.String()
}

// runBlocks returns the scripts of a CI definition: what follows a key that is run, on its line or indented below.
func runBlocks(text string) (blocks []string) {
	lines := strings.Split(text, "\n")
	for n := 0; n < len(lines) && len(blocks) < 256; n++ {
		trimmed := strings.TrimLeft(lines[n], " -")
		indent := len(lines[n]) - len(trimmed)
		key, value, ok := strings.Cut(trimmed, ":")
		if !ok || !lex.Has([]string{key}, "run", "script", "before_script", "after_script", "command", "entrypoint", "bash",
			"pwsh", "powershell", "sh", "cmds", "commands", "build_script", "deploy_script", "test_script", "inline", "entry") {
			continue
		}
		value = strings.TrimSpace(value)
		if value != "" && value != "|" && value != ">" && value != "|-" && value != ">-" && value != "|+" {
			blocks = append(blocks, strings.Trim(value, `"'`))
			continue
		}
		var block strings.Builder
		for n+1 < len(lines) {
			next := strings.TrimLeft(lines[n+1], " ")
			column := len(lines[n+1]) - len(next)
			if next != "" && column <= indent && (column < indent || !strings.HasPrefix(next, "- ")) {
				break
			}
			block.WriteString(strings.TrimPrefix(next, "- "))
			block.WriteByte('\n')
			n++
		}
		blocks = append(blocks, block.String())
	}
	return blocks
}

// sendsNamed reports whether a line of a job sends away what a variable holds that is named like a secret: the variables of a job
// are what the service that runs it keeps for it.
func (s callRun) sendsNamed(block string) bool {
	inner := s.Apart()
	inner.Nested(interlock.KindShell, block)
	s.Work = inner.Work
	return slices.ContainsFunc(inner.Impacts, func(i interlock.Impact) bool {
		return i.Kind == interlock.ImpactCredential && i.Has(fact.TraitUpload) && i.Reach == interlock.ReachExternal
	})
}
