package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"interlock"
)

// Startup returns the patterns of files in a workspace that people's own tools run or obey later: hooks, editor and shell
// settings, instructions to agents. A pattern with a slash is matched at the end of a path, one without against a name; a
// directory that matches means all that is in it.
func Startup() []string {
	return []string{
		".git/hooks", ".git/config", ".gitmodules", ".husky", ".pre-commit-config.yaml", "lefthook.yml", ".lefthook.yml",
		".envrc", ".mise.toml", ".bashrc", ".bash_profile", ".profile", ".zshrc", ".zshenv", ".zprofile", ".vimrc",
		".exrc", ".nvim.lua",
		".vscode", ".idea", ".devcontainer", ".devcontainer.json",
		"CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "GEMINI.md", ".cursorrules", ".windsurfrules", ".clinerules",
		".claude", ".codex", ".cursor", ".gemini", ".qwen", ".opencode", "opencode.json", "opencode.jsonc", ".windsurf",
		".mcp.json", ".github/copilot-instructions.md", ".github/workflows",
		".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs",
		"mise.toml", ".mise", ".tool-versions", ".config/mise", "justfile", ".justfile", "Makefile", "GNUmakefile", "conftest.py",
		"sitecustomize.py", "usercustomize.py",
		".bazelrc", ".gdbinit", ".lldbinit", ".irbrc", ".pryrc", ".dir-locals.el", ".venv/bin", "venv/bin", "node_modules/.bin",
		".git/commondir", ".git/info/attributes", ".git/config.worktree",
		".githooks", ".lefthook", ".overcommit", ".overcommit.yml", "lefthook.yaml", ".lefthook-local.yml", ".run", ".direnvrc",
		".ssh/authorized_keys", "authorized_keys",
	}
}

// isStartup reports whether a path in a workspace matches a pattern. Names are compared in any case, as some file systems
// do. What is no directory matches the directories on the way as well: a .git that is a link or a file says where the hooks
// really are.
func isStartup(patterns []string, path string, directory bool) bool {
	path = "/" + strings.ToLower(filepath.ToSlash(path)) + "/"
	for _, pattern := range patterns {
		pattern = "/" + strings.ToLower(strings.Trim(pattern, "/")) + "/"
		if strings.Contains(path, pattern) {
			return true
		}
		for parent := filepath.Dir(strings.TrimSuffix(pattern, "/")); !directory && parent != "/" &&
			parent != "."; parent = filepath.Dir(parent) {
			if strings.HasSuffix(path, parent+"/") {
				return true
			}
		}
	}
	return false
}

// A startup is one such file or directory that is there.
type startup struct {
	path string
	info fs.FileInfo
}

// maxLooked bounds how many entries of a workspace are looked at.
const maxLooked = 200_000

// findStartups walks a workspace without following links and returns what matches, topmost only. partial says that there
// was more than is looked at, or something that can't be read.
func findStartups(root string, patterns []string) (found []startup, partial bool) {
	looked := 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if looked++; looked > maxLooked {
			partial = true
			return filepath.SkipAll
		}
		if err != nil {
			partial = true
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil || rel == "." {
			return err
		}
		if entry.IsDir() && strings.HasSuffix(filepath.ToSlash(rel), ".git/objects") {
			return filepath.SkipDir
		}
		if !isStartup(patterns, rel, entry.IsDir()) {
			return nil
		}
		if info, err := entry.Info(); err == nil {
			found = append(found, startup{rel, info})
		}
		if entry.IsDir() {
			return filepath.SkipDir
		}
		return nil
	})
	return found, partial || err != nil
}

// AsideSuffix is what is put behind the name of a start-up file that a run has made.
const AsideSuffix = ".set-aside-by-interlock"

// setAside renames what matches now and did not before, so that nothing obeys it: what a run makes in its workspace would
// otherwise run outside as soon as somebody changes into the directory. What stood there before is known by its inode,
// because it was read-only and may only have been moved with its directory.
func setAside(root string, patterns []string, before []startup) (effects []interlock.Effect, partial bool, err error) {
	after, partial := findStartups(root, patterns)
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, partial, err
	}
	defer dir.Close()
	for _, found := range after {
		if slices.ContainsFunc(before, func(b startup) bool { return os.SameFile(b.info, found.info) && !isLink(found.info) }) {
			continue
		}
		if isLink(found.info) && slices.ContainsFunc(before,
			func(b startup) bool { return b.path == found.path && os.SameFile(b.info, found.info) }) {
			continue
		}
		aside := found.path + AsideSuffix
		for taken(dir, aside) {
			aside += "-"
		}
		if err := dir.Rename(found.path, aside); err != nil {
			return effects, partial, err
		}
		effects = append(effects, interlock.Effect{Path: filepath.ToSlash(found.path), Change: interlock.EffectSetAside,
			Kind: kindOf(found.info.Mode()), After: sizeOf(found.info), Startup: true})
	}
	return effects, partial, nil
}

func isLink(info fs.FileInfo) bool { return info.Mode()&fs.ModeSymlink != 0 }

func taken(dir *os.Root, path string) bool {
	_, err := dir.Lstat(path)
	return err == nil
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "file"
	case mode.IsDir():
		return "dir"
	case mode&fs.ModeSymlink != 0:
		return "link"
	default:
		return "special"
	}
}

func sizeOf(info fs.FileInfo) int64 {
	if info.Mode().IsRegular() {
		return info.Size()
	}
	return 0
}
