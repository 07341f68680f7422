package call

import (
	"path"
	"slices"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"
)

// Written judges what is put into a file by something that is no call of a file tool: a command whose output goes there.
func Written(s *flow.Scan, via, name, text string) {
	p := s.Place(name)
	callRun{s}.settings(via, p, text)
	if fact.HasTrait(p.Traits, fact.TraitCI) {
		callRun{s}.content(via, p, text)
	}
}

// settings reads settings that have something run, wherever they are written: a configuration of git lies where git
// is pointed at, and what .npmrc says of a shell every script goes through.
func (s callRun) settings(tool string, p know.Place, text string) {
	if fact.HasTrait(p.Traits, fact.TraitStartup) || len(text) > maxContent || !s.Spend(len(text)/256+1) {
		return
	}
	base := strings.ToLower(p.Path[strings.LastIndexAny(p.Path, "/\\")+1:])
	runs := gitSettingsRun(text)
	if base == ".npmrc" || base == "npmrc" {
		runs = setsKey(text, "=", "script-shell", "node-options", "git", "shell")
	}
	if base == ".yarnrc.yml" || base == ".yarnrc" {
		runs = loadsOwn(text)
	}
	if base == ".git" && strings.HasPrefix(text, "gitdir:") {
		runs = true
	}
	if runs {
		s.Add(interlock.Impact{Kind: interlock.ImpactPersist, Target: p.Path, Reach: p.Reach, Via: tool,
			Reversibility: interlock.Reversible,
			Confidence:    interlock.Inferred, Traits: []string{fact.TraitStartup}})
	}
}

// setsKey reports whether a text of settings, one a line, gives one of these keys a value other than a shell everybody has.
func setsKey(text, sign string, keys ...string) bool {
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(line, sign)
		value = strings.Trim(strings.TrimSpace(value), `"'`)
		if ok && slices.Contains(keys, strings.ToLower(strings.TrimSpace(key))) && value != "" && !plainShell(value) {
			return true
		}
	}
	return false
}

// plainShell reports whether a setting names a shell of the system.
func plainShell(value string) bool {
	name := strings.TrimSuffix(strings.ToLower(value), ".exe")
	if dir, base := path.Split(name); dir == "/bin/" || dir == "/usr/bin/" {
		name = base
	}
	switch name {
	case "sh", "bash", "zsh", "dash", "cmd", "powershell", "pwsh":
		return true
	}
	return false
}

// loadsOwn reports whether settings of yarn have it be another program than the one it keeps in its own folder, or load something
// from elsewhere.
func loadsOwn(text string) bool {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		listed := strings.HasPrefix(line, "- ")
		value, isPath := strings.CutPrefix(strings.TrimPrefix(strings.TrimPrefix(line, "- "), "path:"), "yarnPath:")
		value, old := strings.CutPrefix(value, "yarn-path ")
		value = strings.TrimPrefix(strings.Trim(strings.TrimSpace(value), `"'`), "./")
		loads := listed && (strings.HasSuffix(value, ".cjs") || strings.HasSuffix(value, ".js"))
		if (isPath || old || loads) && !strings.HasPrefix(value, ".yarn/") {
			return true
		}
	}
	return false
}

// gitSettingsRun reports whether a text is a configuration of git that has a program run which git does not bring.
func gitSettingsRun(text string) bool {
	section := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") && strings.Contains(line, "]") {
			section, _, _ = strings.Cut(strings.ToLower(strings.Trim(line[:strings.IndexByte(line, ']')], "[")), " ")
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok || section == "" {
			continue
		}
		key, value = strings.ToLower(strings.TrimSpace(key)), strings.Trim(strings.TrimSpace(value), `"`)
		program := strings.ContainsAny(value, "/$!;|`(")
		switch section + "." + key {
		case "core.hookspath", "core.gitproxy":
			return value != "" && value != "/dev/null"
		case "core.fsmonitor", "core.sshcommand", "core.pager", "core.editor", "core.askpass", "sequence.editor",
			"credential.helper", "gpg.program",
			"filter.clean", "filter.smudge", "filter.process", "diff.textconv", "diff.command", "diff.external", "merge.driver",
			"difftool.cmd", "mergetool.cmd", "uploadpack.packobjectshook":
			if program {
				return true
			}
		}
		if section == "alias" && strings.HasPrefix(value, "!") {
			return true
		}
	}
	return false
}

// addressName reports whether the name of a secret says that it is where something is sent.
func addressName(name string) bool {
	up := strings.ToUpper(name)
	return strings.Contains(up, "URL") || strings.Contains(up, "HOOK") || strings.Contains(up, "HOST") ||
		strings.Contains(up, "ENDPOINT") || strings.Contains(up, "ADDR")
}
