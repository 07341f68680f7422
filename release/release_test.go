package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"interlock/embedded"
	"interlock/internal/harness"
)

// made runs the program for this system alone, and returns where everything is.
func made(t *testing.T, root string) *release {
	t.Helper()
	r := &release{root: root, out: filepath.Join(t.TempDir(), "dist")}
	if err := r.run(runtime.GOOS + "/" + runtime.GOARCH); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestWhatIsHandedOut builds a release twice, from two copies of the tree in different places, and tries what came of it.
func TestWhatIsHandedOut(t *testing.T) {
	r := made(t, "..")
	if r.version != embedded.Release {
		t.Errorf("version %s, want %s", r.version, embedded.Release)
	}
	t.Run("the same bytes", func(t *testing.T) { sameBytes(t, r) })
	t.Run("checksums", func(t *testing.T) { checksummed(t, r) })
	t.Run("archive", func(t *testing.T) { fromArchive(t, r) })
	t.Run("npm", func(t *testing.T) { fromNPM(t, r) })
	t.Run("statements", func(t *testing.T) { stated(t, r) })
	if runtime.GOOS == "linux" {
		t.Run("soon", func(t *testing.T) { soonRefused(t, r) })
		t.Run("deb", func(t *testing.T) { fromDebian(t, r) })
		t.Run("rpm", func(t *testing.T) { fromRPM(t, r) })
		t.Run("formula", func(t *testing.T) { asFormula(t, r) })
		t.Run("image", func(t *testing.T) { asImage(t, r) })
	}
	if err := emptied(r.out); err != nil {
		t.Errorf("a release can't be made anew: %v", err)
	}
	if err := emptied(".."); err == nil {
		t.Fatal("a directory that is no release would be emptied")
	}
}

// sameBytes builds from a copy elsewhere, of another name and without what is not in the release.
func sameBytes(t *testing.T, r *release) {
	other := filepath.Join(t.TempDir(), "another place")
	if r.commit == "" { // files without a history
		names, err := r.known()
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			data, err := os.ReadFile(filepath.Join("..", name))
			if err == nil {
				err = write(filepath.Join(other, name), data, 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	} else {
		cloned(t, other)
	}
	again := made(t, other)
	one, two := contentsOf(t, r.out), contentsOf(t, again.out)
	for name := range one {
		if !bytes.Equal(one[name], two[name]) {
			t.Errorf("%s: %d bytes and %d, not the same", name, len(one[name]), len(two[name]))
		}
	}
	if len(one) != len(two) || len(one) < 10 {
		t.Errorf("%d files and %d", len(one), len(two))
	}
}

// cloned makes a copy of the tree with its history, and what is changed in it since the last commit.
func cloned(t *testing.T, other string) {
	t.Helper()
	if out, err := exec.Command("git", "clone", "-q", "--no-hardlinks", "..", other).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	changed, err := exec.Command("git", "-C", "..", "diff", "--binary", "HEAD").Output()
	if err != nil {
		t.Fatal(err)
	}
	if len(changed) > 0 {
		apply := exec.Command("git", "-C", other, "apply", "--index")
		apply.Stdin = bytes.NewReader(changed)
		if out, err := apply.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
}

func contentsOf(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(name)], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func checksummed(t *testing.T, r *release) {
	files := contentsOf(t, r.out)
	lines := strings.Split(strings.TrimSpace(string(files[sumsFile])), "\n")
	if len(lines) != len(files)-1 {
		t.Errorf("%d checksums of %d files", len(lines), len(files)-1)
	}
	for _, line := range lines {
		sum, name, _ := strings.Cut(line, "  ")
		if got, err := r.sum(name); err != nil || got != sum {
			t.Errorf("%s: %s, %v", line, got, err)
		}
	}
}

// run runs a program and wants it to end with a status.
func run(t *testing.T, status int, dir, program string, args ...string) string {
	t.Helper()
	command := exec.Command(program, args...)
	command.Dir = dir
	command.Env = append(os.Environ(), "INTERLOCK_HOME="+filepath.Join(t.TempDir(), "home"))
	out, err := command.CombinedOutput()
	if command.ProcessState == nil || command.ProcessState.ExitCode() != status {
		t.Fatalf("%s %q: %v\n%s", program, args, err, out)
	}
	return string(out)
}

// fromArchive unpacks the archive and has the program deny, as a stranger's first command.
func fromArchive(t *testing.T, r *release) {
	name := "interlock_" + r.version + "_" + runtime.GOOS + "_" + runtime.GOARCH
	dir := t.TempDir()
	if runtime.GOOS == "windows" {
		run(t, 0, dir, "tar", "-xf", filepath.Join(r.out, name+".zip"))
	} else {
		run(t, 0, dir, "tar", "-xzf", filepath.Join(r.out, name+".tar.gz"))
	}
	host, _ := r.host()
	program := filepath.Join(dir, name, host.exe("interlock"))
	run(t, 20, dir, program, "check", "rm -rf /")
	var says struct{ Version, Commit, Analyser string }
	if err := json.Unmarshal([]byte(run(t, 0, dir, program, "version", "--json")), &says); err != nil {
		t.Fatal(err)
	}
	if commit := says.Commit; says.Version != r.version || commit != strings.TrimSuffix(r.commit, "+changed") ||
		commit != "" && !strings.HasPrefix(says.Analyser, commit[:12]) {
		t.Errorf("%+v, of %s", says, r.commit)
	}
	page, err := os.ReadFile(filepath.Join(dir, name, "man", "interlock.1"))
	if err != nil || !bytes.Contains(page, []byte(".SH INTERLOCK SETUP")) {
		t.Errorf("the man page has no section about setup: %v", err)
	}
}

// fromNPM installs the packages from their files and runs the program as `npx interlock` does.
func fromNPM(t *testing.T, r *release) {
	dir := t.TempDir()
	host, _ := r.host()
	goos, arch := nodeName(host.system)
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"name":"here","version":"1.0.0"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	file := func(name string) string { return filepath.Join(r.out, "npm", name+"-"+r.version+".tgz") }
	run(t, 0, dir, "npm", "install", "--offline", "--no-audit", "--no-fund", file(npmName), file(npmName+"-"+goos+"-"+arch))
	if said := run(t, 0, dir, "npx", "--no-install", "interlock", "version"); !strings.Contains(said, "interlock "+r.version) {
		t.Errorf("npx interlock version: %s", said)
	}
	run(t, 20, dir, "npx", "--no-install", "interlock", "check", "rm -rf /")
	if err := os.RemoveAll(filepath.Join(dir, "node_modules", npmName+"-"+goos+"-"+arch)); err != nil {
		t.Fatal(err)
	}
	if said := run(t, 1, dir, "npx", "--no-install", "interlock", "version"); !strings.Contains(said, "is not installed") {
		t.Errorf("without the system's package: %s", said)
	}
}

// fromDebian installs the package into a root of its own, runs what is there, and removes it.
func fromDebian(t *testing.T, r *release) {
	dpkg, err := exec.LookPath("dpkg")
	if err != nil { // elsewhere than on Debian the bytes are all that is held
		return
	}
	root := t.TempDir()
	for _, name := range []string{"status", "available", "info/format"} {
		text := ""
		if name == "info/format" {
			text = "1\n"
		}
		if err := write(filepath.Join(root, "var", "lib", "dpkg", name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(root, "var", "lib", "dpkg", "updates"), 0o755); err != nil {
		t.Fatal(err)
	}
	install := []string{"--root=" + root, "--force-not-root", "--force-bad-path", "--log=" + filepath.Join(root, "log")}
	run(t, 0, root, dpkg, append(install, "-i", filepath.Join(r.out, "interlock_"+r.tilde()+"_"+runtime.GOARCH+".deb"))...)
	run(t, 20, root, filepath.Join(root, "usr", "bin", "interlock"), "check", "rm -rf /")
	for _, name := range []string{"bin/interlock-hook", "share/man/man1/interlock.1.gz", "share/doc/interlock/copyright"} {
		if _, err := os.Stat(filepath.Join(root, "usr", name)); err != nil {
			t.Error(err)
		}
	}
	if said := run(t, 0, root, dpkg, "--root="+root, "-V", "interlock"); said != "" {
		t.Errorf("what is installed is not what the package says: %s", said)
	}
	run(t, 0, root, dpkg, append(install, "--purge", "interlock")...)
	if _, err := os.Stat(filepath.Join(root, "usr")); !os.IsNotExist(err) {
		t.Errorf("what was installed stays: %v", err)
	}
	if said := read(t, filepath.Join(root, "var", "lib", "dpkg", "status")); strings.Contains(said, "interlock") {
		t.Errorf("dpkg remembers: %s", said)
	}
}

// stated holds the inventory and the provenance against the programs.
func stated(t *testing.T, r *release) {
	files := contentsOf(t, r.out)
	var bom struct {
		BOMFormat, SpecVersion string
		Components             []struct{ Name, Version, Purl string }
	}
	if err := json.Unmarshal(files["interlock_"+r.version+"_sbom.cdx.json"], &bom); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, c := range bom.Components {
		names[c.Name] = c.Version != "" && strings.HasPrefix(c.Purl, "pkg:golang/"+c.Name+"@")
	}
	if bom.BOMFormat != "CycloneDX" || bom.SpecVersion != "1.6" || !names["modernc.org/sqlite"] || !names["std"] {
		t.Errorf("the inventory: %+v", bom)
	}
	var statement struct {
		Subject []struct {
			Name   string
			Digest struct{ SHA256 string }
		}
	}
	if err := json.Unmarshal(files["interlock_"+r.version+"_provenance.json"], &statement); err != nil {
		t.Fatal(err)
	}
	if len(statement.Subject) != len(files)-2 { // not itself, and not the checksums, which are of it
		t.Errorf("%d subjects of %d files", len(statement.Subject), len(files))
	}
	for _, s := range statement.Subject {
		if sum, err := r.sum(s.Name); err != nil || sum != s.Digest.SHA256 {
			t.Errorf("%s: %v", s.Name, err)
		}
	}
}

// TestThePluginAsksAtEveryEvent: the plugin's hooks are those that install registers.
func TestThePluginAsksAtEveryEvent(t *testing.T) {
	text, err := os.ReadFile("files/plugin/hooks/hooks.json")
	if err != nil {
		t.Fatal(err)
	}
	var plugin struct {
		Hooks map[string][]struct {
			Hooks []struct{ Command string }
		}
	}
	if err := json.Unmarshal(text, &plugin); err != nil {
		t.Fatal(err)
	}
	claude, _ := harness.ByName("claude")
	if len(plugin.Hooks) != len(claude.Events) {
		t.Errorf("%d events, want %v", len(plugin.Hooks), claude.Events)
	}
	for _, event := range claude.Events {
		groups := plugin.Hooks[event]
		if len(groups) != 1 || len(groups[0].Hooks) != 1 {
			t.Errorf("%s: %+v", event, groups)
			continue
		}
		command := groups[0].Hooks[0].Command
		if closed := strings.HasSuffix(command, " || exit 2"); closed != (claude.Blocks(event) || event == harness.ConfigChange) ||
			!strings.Contains(command, "/bin/ask\" "+event) {
			t.Errorf("%s: %s", event, command)
		}
	}
}

// TestTheModulePathIsRewritten puts another path into imports and nowhere else.
func TestTheModulePathIsRewritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.go")
	source := "package x\n\nimport (\n\t\"fmt\"\n\t\"interlock\"\n\tother \"interlock/internal/rpc\" // \"interlock\"\n" +
		"\t\"interlocked.example/x\"\n)\n\n" +
		"var _ = \"interlock/internal\" // stays\n"
	want := strings.NewReplacer("\t\"interlock\"", "\t\"example.org/a/interlock\"",
		"other \"interlock/internal/rpc\"", "other \"example.org/a/interlock/internal/rpc\"").Replace(source)
	if err := os.WriteFile(path, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := rewriteImports(path, "example.org/a/interlock"); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != want {
		t.Errorf("%s", got)
	}
	r := &release{module: "no path", source: t.TempDir()}
	if err := r.rewrite(t.TempDir()); err == nil {
		t.Error("what is no module path is taken for one")
	}
}

// TestOthersCanImportIt rewrites the module path of the whole tree, and builds and runs a program outside of it.
func TestOthersCanImportIt(t *testing.T) {
	work := t.TempDir()
	r := &release{root: "..", module: "example.org/you/interlock"}
	if err := r.copySource(work); err != nil {
		t.Fatal(err)
	}
	if err := r.rewrite(work); err != nil {
		t.Fatal(err)
	}
	if said := run(t, 0, r.source, "go", "list", "-m"); said != "example.org/you/interlock\n" {
		t.Errorf("the module is %s", said)
	}
}

// TestAPageHoldsNoRequests: text that roff would take for requests is text.
func TestAPageHoldsNoRequests(t *testing.T) {
	page := section("A-B", ".so /etc/passwd\n'x\\n --flag")
	if regexp.MustCompile(`(?m)^(\.so|'x)`).MatchString(page) || !strings.Contains(page, `\e`) ||
		!strings.Contains(page, `\-\-flag`) {
		t.Errorf("%s", page)
	}
}

// TestTheServerRunsAsNobody: what runs the server runs it as nobody, on a file system that is only read.
func TestTheServerRunsAsNobody(t *testing.T) {
	for name, want := range map[string][]string{
		"container/Containerfile":     {"USER 65532:65532", "ENTRYPOINT"},
		"container/compose.yaml":      {"read_only: true", "cap_drop: [ALL]", "no-new-privileges", "127.0.0.1:7433:7433"},
		"chart/templates/server.yaml": {"runAsNonRoot: true", "readOnlyRootFilesystem: true", "drop: [ALL]", "replicas: 1"},
	} {
		text, err := os.ReadFile(filepath.Join("files", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		if missing := slices.DeleteFunc(want, func(w string) bool { return strings.Contains(string(text), w) }); len(missing) > 0 {
			t.Errorf("%s lacks %q", name, missing)
		}
	}
}
