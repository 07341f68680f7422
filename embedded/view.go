package embedded

import (
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"

	"interlock"
	"interlock/internal/config"
	"interlock/internal/harness"
)

// GatherView collects what the analysis may know of the world for an action proposed in dir: where home and the workspace
// are, and which paths and endpoints are Interlock's own. It looks at a few directory entries and opens nothing but the list
// of clients behind the gateway; [Scripts] reads what the action would run.
func GatherView(c config.Config, dir string) interlock.View {
	view := interlock.View{Production: c.Production, Endpoints: endpoints(c.Listen)}
	if home, err := os.UserHomeDir(); err == nil {
		view.Home = home
	}
	view.User = userName()
	view.Workspace = workspace(dir, view.Home)
	view.Self = slices.Concat(selfPaths(c), harness.SettingsFiles(view.Home), config.Guarded(c.Home), harness.Between(os.Getenv))
	view.Links = links(dir, view.Workspace)
	return view
}

// GatherPeerView collects the same for another user of the machine, by whom this process is asked. It sees of their directories
// what its own user may, which under a system service is nothing: then no directory above the working directory is the workspace.
func GatherPeerView(c config.Config, name, home, dir string) interlock.View {
	view := interlock.View{Production: c.Production, Endpoints: endpoints(c.Listen), Home: home, User: name}
	view.Workspace = workspace(dir, home)
	view.Self = slices.Concat(selfPaths(c), config.Guarded(c.Home))
	if home != "" {
		view.Self = append(view.Self, harness.SettingsFiles(home)...)
	}
	view.Links = links(dir, view.Workspace)
	return view
}

// selfPaths are the files an agent must not touch if Interlock is to mean anything.
func selfPaths(c config.Config) []string {
	paths := []string{c.Home, config.Socket(c.Home)}
	if c.Rules != "" {
		paths = append(paths, c.Rules)
	}
	paths = append(paths, c.SecretFiles()...)
	if binary, err := os.Executable(); err == nil {
		beside := filepath.Dir(binary)
		paths = append(paths, binary, filepath.Join(beside, "interlock"), filepath.Join(beside, harness.SmallProgram))
	}
	return paths
}

func endpoints(listen string) []string {
	if listen == "" || listen == "off" {
		return nil
	}
	return []string{listen}
}

// workspace is the repository that dir lies in, or dir itself. A home directory or the file system's root is nobody's
// workspace, even if somebody put it under version control.
func workspace(dir, home string) string {
	if dir == "" {
		return ""
	}
	clean := filepath.Clean(dir)
	return workspaceAbove(clean, isRepository(clean), home)
}

// workspaceAbove is the workspace of a directory, given whether it is a repository.
func workspaceAbove(dir string, repository bool, home string) string {
	for at := dir; ; {
		parent := filepath.Dir(at)
		if at == home || parent == at {
			break
		}
		if at == dir && repository || at != dir && isRepository(at) {
			return at
		}
		at = parent
	}
	if dir != home && dir != filepath.Dir(dir) {
		return dir
	}
	return ""
}

// isRepository reports whether a directory holds what version control leaves at the top.
func isRepository(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, ".git"))
	return err == nil
}

// maxLinks bounds how many links of the working directory are resolved: it is a hint for the analysis, not a map.
const maxLinks = 64

// links resolves the symbolic links that stand directly in the working directory and the workspace, because a link out of
// the workspace is how an action inside it reaches something else.
func links(dirs ...string) map[string]string {
	found := map[string]string{}
	for _, dir := range dirs {
		if dir == "" {
			continue
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if e.Type()&os.ModeSymlink == 0 || len(found) >= maxLinks {
				continue
			}
			path := filepath.Join(dir, e.Name())
			if target, err := filepath.EvalSymlinks(path); err == nil {
				found[path] = target
			}
		}
	}
	if len(found) == 0 {
		return nil
	}
	return found
}

// userName is what a shell of this user's takes $USER and ~ for: the environment, which the shell has from here, comes first.
// Whom a proposal is accounted to is package account's to say.
func userName() string {
	name := "USER"
	if runtime.GOOS == "windows" {
		name = "USERNAME"
	}
	if u := os.Getenv(name); u != "" {
		return u
	}
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "unknown"
}
