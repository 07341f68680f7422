package call

import (
	"encoding/json"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/place"
	"interlock/internal/impact/program"
	"interlock/internal/impact/web"
	"interlock/internal/lex"
)

// Keys under which coding agents name what a file tool works on, folded.
var (
	fileTargetKeys = []string{"path", "filepath", "notebookpath", "absolutepath", "targetfile", "targetnotebook", "relativepath",
		"filename", "file", "directory", "dirpath", "dir", "folder", "uri", "sourcepath", "source", "oldpath", "from", "src"}
	fileToKeys      = []string{"newpath", "destination", "destinationpath", "dest", "dst", "to", "target"}
	fileListKeys    = []string{"paths", "files", "filepaths"}
	fileContentKeys = []string{"content", "contents", "filetext", "newstring", "newstr", "newsource", "newtext", "inserttext",
		"text", "replacement", "codeedit", "data", "instructions"}
	filePatchKeys = []string{"patch", "input", "diff", "patchtext"}
)

// file analyses a file operation: what the tool is called says what it does, the arguments say to what.
func (s callRun) file(tool string, args json.RawMessage) {
	object, ok := s.arguments(tool, args)
	if !ok {
		return
	}
	folded := foldKeys(object)
	op := s.fileOperation(tool, folded)
	content := gather(folded, fileContentKeys)
	content = append(content, editTexts(folded)...)
	if patch, found := textAt(folded, filePatchKeys); found && (op == "patch" || looksLikePatch(patch)) {
		s.patch(tool, patch)
		return
	}
	targets := fileTargets(op, folded)
	if len(targets) == 0 {
		if op != "read" {
			s.Unknown(tool, fact.TraitUnparsable)
			return
		}
		targets = []string{s.Dir}
	}
	to, _ := textAt(folded, fileToKeys)
	if op == "link" {
		s.link(tool, targets, folded)
		return
	}
	if mode := modeOf(folded); mode != "" && op != "read" {
		s.mode(tool, targets, mode)
	}
	mode, _ := textAt(folded, []string{"outputmode"})
	showsLines := op == "read" && mode == "content"
	if showsLines {
		s.shown(tool, targets, folded)
	}
	for _, target := range targets {
		if !s.Spend(1) {
			s.Unknown(tool, fact.TraitWork)
			return
		}
		traits := s.flagTraits(folded)
		if plainAdvice(op, s.Place(target), content, replacedTexts(folded)) {
			traits = append(traits, fact.TraitAdvice)
		}
		if showsLines {
			traits = append(traits, fact.TraitRecursive) // lines of all files below it are shown
		}
		s.fileImpact(tool, op, target, to, traits)
		if op != "read" && op != "delete" {
			s.written(tool, target, content)
		}
	}
}

// fileTargets are the places that a file operation is said to be about.
func fileTargets(op string, folded map[string]any) []string {
	targets := gather(folded, fileTargetKeys[:1])
	if len(targets) == 0 {
		if one, found := textAt(folded, fileTargetKeys); found {
			targets = []string{one}
		}
	}
	targets = append(targets, gather(folded, fileListKeys)...)
	if len(targets) == 0 && op == "link" {
		targets = gather(folded, []string{"link", "linkpath", "linkname", "name"})
	}
	return targets
}

// shown records which of the files below some places a search shows, where it shows all that they hold.
func (s callRun) shown(tool string, targets []string, folded map[string]any) {
	glob, found := textAt(folded, []string{"glob"})
	if !found || !showsAll(folded) {
		return
	}
	for _, target := range targets {
		name := strings.TrimPrefix(glob, "**/")
		if strings.HasPrefix(name, "*.") {
			name = name[1:] // a star of such tools is a leading dot's, too
		}
		s.Touch(strings.TrimSuffix(target, "/")+"/"+name, interlock.Impact{Kind: interlock.ImpactRead, Via: tool})
	}
}

// showsAll reports whether what a search looks for is found in every line, or in those that hold secrets.
func showsAll(folded map[string]any) bool {
	pattern, _ := textAt(folded, []string{"pattern", "query", "regex"})
	if strings.Trim(pattern, `.*+?^$=\wSs[]()|{}"' -`) == "" {
		return true
	}
	low := strings.ToLower(pattern)
	for _, word := range [...]string{"key", "secret", "token", "passw", "cred", "private"} {
		if strings.Contains(low, word) {
			return true
		}
	}
	return false
}

// fileOperation says what a file tool does. An editor tool's own command argument says more than its name. A name that
// is not known changes something.
func (s callRun) fileOperation(tool string, folded map[string]any) string {
	files := s.Know.ToolTable().Files
	if command, found := textAt(folded, []string{"command", "action", "operation", "mode"}); found {
		if op := files[lex.Fold(command)]; op != "" {
			return op
		}
	}
	names := lex.NameWords(tool)
	if len(names) > 0 {
		if op := files[lex.Fold(tool)]; op != "" {
			return op
		}
		for _, word := range names {
			if op := files[word]; op != "" {
				return op
			}
		}
	}
	return "write"
}

// link records a link: what it leads to can be read and written through it, and the link itself is new.
func (s callRun) link(tool string, targets []string, folded map[string]any) {
	for _, name := range append(append([]string(nil), targets...),
		gather(folded, []string{"target", "targetpath", "to", "destination", "link", "linkpath", "linkname"})...) {
		at := s.Place(name)
		i := interlock.Impact{Kind: interlock.ImpactRead, Via: tool}
		if at.Reach == interlock.ReachWorkspace && len(at.Traits) == 0 || at.Reach == interlock.ReachSelf ||
			fact.HasTrait(at.Traits, fact.TraitStartup) || at.Reach != interlock.ReachWorkspace &&
			fact.HasTrait(at.Traits, fact.TraitAgentConfig) {
			i.Kind = interlock.ImpactWrite // what is written through the link is written there, under a name that nobody watches
		}
		s.Touch(name, i)
		if at.Reach == interlock.ReachSystem && fact.HasTrait(at.Traits, fact.TraitRoot) {
			s.Add(interlock.Impact{Kind: interlock.ImpactPrivilege, Target: at.Path, Reach: at.Reach,
				Reversibility: interlock.Reversible, Via: tool,
				Confidence: interlock.Inferred, Traits: []string{fact.TraitRoot}})
		}
	}
}

func modeOf(folded map[string]any) string {
	for _, key := range []string{"mode", "permissions", "filemode", "chmod"} {
		switch value := folded[key].(type) {
		case string:
			return value
		case json.Number:
			return value.String()
		}
	}
	return ""
}

// mode records permission bits that a file tool sets: those that lend a program the rights of its owner.
func (s callRun) mode(tool string, targets []string, mode string) {
	digits := strings.TrimPrefix(strings.TrimPrefix(mode, "0o"), "0")
	numeric := len(digits) == 4 && strings.Trim(digits, "01234567") == "" && digits[0] >= '2'
	symbolic := strings.ContainsAny(mode, "ugo+=") && strings.Contains(mode, "s") &&
		(strings.Contains(mode, "+") || strings.Contains(mode, "=")) && len(mode) <= 16
	if !numeric && !symbolic {
		return
	}
	for _, target := range targets {
		at := s.Place(target)
		s.Executes(interlock.KindShell, "chmod "+mode+" "+at.Path)
		s.Add(interlock.Impact{Kind: interlock.ImpactPrivilege, Target: at.Path, Reach: at.Reach,
			Reversibility: interlock.Reversible, Via: tool,
			Confidence: interlock.Inferred, Traits: []string{fact.TraitAccount}})
	}
}

// fileImpact records what one operation does to one path.
func (s callRun) fileImpact(tool, op, target, to string, traits []string) {
	path, odd := place.PlainPath(target)
	if odd {
		traits = append(traits[:len(traits):len(traits)], fact.TraitObfuscated, fact.TraitInjection)
	}
	if program.Climbs(path) || strings.Count(path, "../") >= 4 && strings.HasPrefix(path, "..") {
		traits = append(traits[:len(traits):len(traits)], fact.TraitClimbing)
	}
	i := interlock.Impact{Kind: interlock.ImpactWrite, Via: tool, Traits: traits}
	if odd {
		i.Confidence = interlock.Unknown // what it names depends on who decodes it
	}
	switch op {
	case "read":
		i.Kind = interlock.ImpactRead
	case "delete":
		i.Kind = interlock.ImpactDelete
	case "write":
		i.Traits = append(traits[:len(traits):len(traits)], fact.TraitOverwrite)
	case "append":
		i.Traits = append(traits[:len(traits):len(traits)], fact.TraitAppend)
	case "move":
		i.Kind, i.Reversibility = interlock.ImpactDelete, interlock.Reversible // it is there under its new name
	case "copy":
		i.Kind = interlock.ImpactRead
	}
	s.Touch(path, i)
	if (op == "move" || op == "copy") && to != "" {
		s.Touch(to, interlock.Impact{Kind: interlock.ImpactWrite, Via: tool, Traits: append([]string(nil), traits...)})
	}
}

// written looks at what is put into a file: secrets, and code that the place will run on its own later.
func (s callRun) written(tool, target string, content []string) {
	path, _ := place.PlainPath(target)
	p := s.Place(path)
	for _, text := range content {
		if len(text) > fact.MaxInput {
			s.Unknown(tool, fact.TraitOversize)
			continue
		}
		if kind := web.PlainSecret(text); kind != "" {
			s.Add(interlock.Impact{Kind: interlock.ImpactCredential, Target: p.Path, Reach: p.Reach, Via: tool + " " + kind,
				Reversibility: interlock.Reversible, Confidence: interlock.Inferred, Traits: []string{fact.TraitSecret}})
		}
		if fact.HasTrait(p.Traits, fact.TraitStartup) && isShellFile(p.Path, text) {
			s.Nested(interlock.KindShell, text)
		} else {
			s.content(tool, p, text)
			s.settings(tool, p, text)
		}
	}
}

// isShellFile reports whether a start-up file is one a shell reads.
func isShellFile(path, text string) bool {
	base := path[strings.LastIndexByte(path, '/')+1:]
	first, _, _ := strings.Cut(text, "\n")
	switch {
	case strings.HasPrefix(first, "#!"):
		return strings.Contains(first, "sh")
	case strings.HasSuffix(base, ".sh"), strings.HasSuffix(base, "rc") && strings.HasPrefix(base, "."),
		strings.HasSuffix(base, "profile"), strings.Contains(path, "/hooks/"), strings.Contains(path, "/.husky/"),
		strings.HasSuffix(base, "_login"), strings.HasSuffix(base, "_logout"), base == ".zshenv", base == ".envrc",
		base == "rc.local":
		return true
	}
	return false
}

// looksLikePatch reports whether text is an apply_patch envelope or a unified diff.
func looksLikePatch(text string) bool {
	return strings.Contains(text, "*** Begin Patch") || strings.Contains(text, "*** Update File:") ||
		strings.Contains(text, "*** Add File:") || strings.Contains(text, "*** Delete File:") ||
		strings.HasPrefix(text, "--- ") || strings.HasPrefix(text, "diff --git ") || strings.Contains(text, "\n+++ ")
}

// A patchFile is what a patch does to one file.
type patchFile struct {
	op, path, to string
	added        []string
	removed      []string
}

// patch analyses a patch file by file. A patch in which no file is found is unknown.
func (s callRun) patch(tool, text string) {
	if reason := s.Enter(text); reason != "" {
		s.Unknown(tool, reason)
		return
	}
	defer s.Leave()
	if !s.Spend(strings.Count(text, "\n") + 1) {
		s.Unknown(tool, fact.TraitWork)
		return
	}
	files := parsePatch(text)
	if len(files) == 0 {
		s.Unknown(tool, fact.TraitUnparsable)
	}
	for _, f := range files {
		var traits []string
		if plainAdvice(f.op, s.Place(f.path), f.added, f.removed) {
			traits = []string{fact.TraitAdvice}
		}
		s.fileImpact(tool, f.op, f.path, f.to, traits)
		if f.op != "delete" {
			s.written(tool, f.path, []string{strings.Join(f.added, "\n")})
		}
	}
}

// parsePatch reads an apply_patch envelope or a unified diff in one pass. Those who apply envelopes look past white space
// around a header, so a header may be indented.
func parsePatch(text string) []patchFile {
	var files []patchFile
	begin := func(op, path string) { files = append(files, patchFile{op: op, path: strings.TrimSpace(path)}) }
	old := ""
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		if header := strings.TrimSpace(line); strings.HasPrefix(header, "*** ") {
			line = header
		}
		last := len(files) - 1
		switch {
		case strings.HasPrefix(line, "*** Add File:"):
			begin("create", line[len("*** Add File:"):])
		case strings.HasPrefix(line, "*** Update File:"):
			begin("edit", line[len("*** Update File:"):])
		case strings.HasPrefix(line, "*** Delete File:"):
			begin("delete", line[len("*** Delete File:"):])
		case strings.HasPrefix(line, "*** Move to:") && last >= 0:
			files[last].op, files[last].to = "move", strings.TrimSpace(line[len("*** Move to:"):])
		case strings.HasPrefix(line, "rename from "):
			begin("move", line[len("rename from "):])
		case strings.HasPrefix(line, "rename to ") && last >= 0:
			files[last].to = strings.TrimSpace(line[len("rename to "):])
		case strings.HasPrefix(line, "--- "):
			old = diffPath(line[4:])
		case strings.HasPrefix(line, "+++ ") && old != "":
			files = diffFile(files, old, diffPath(line[4:]))
			old = ""
		case strings.HasPrefix(line, "+") && last >= 0:
			files[last].added = append(files[last].added, line[1:])
		case strings.HasPrefix(line, "-") && last >= 0:
			files[last].removed = append(files[last].removed, line[1:])
		}
	}
	return files
}

func diffFile(files []patchFile, old, now string) []patchFile {
	if last := len(files) - 1; last >= 0 && files[last].op == "move" && files[last].to == now {
		return files
	}
	switch {
	case now == "/dev/null":
		return append(files, patchFile{op: "delete", path: old})
	case old == "/dev/null":
		return append(files, patchFile{op: "create", path: now})
	}
	return append(files, patchFile{op: "edit", path: now})
}

// diffPath is the path in a diff's header line, without its a/ or b/ and its time stamp.
func diffPath(header string) string {
	header, _, _ = strings.Cut(header, "\t")
	header = strings.Trim(strings.TrimSpace(header), `"`)
	if strings.HasPrefix(header, "a/") || strings.HasPrefix(header, "b/") {
		return header[2:]
	}
	return header
}
