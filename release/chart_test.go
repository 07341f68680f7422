package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"interlock/internal/config"
)

// rendered renders the chart with Helm and reads what comes of it as a cluster would: each object as the type that it says it is,
// strictly.
func rendered(t *testing.T, settings ...string) map[string]map[string]any {
	t.Helper()
	r := &release{source: "..", version: "1.2.3", module: ownPath, out: t.TempDir()}
	if err := r.files(""); err != nil {
		t.Fatal(err)
	}
	helm := func(args ...string) *bytes.Buffer {
		command := exec.Command(tool(t, "helm"), args...)
		command.Env = append(os.Environ(), "HOME="+r.out, "KUBECONFIG="+filepath.Join(r.out, "none"))
		var stdout, stderr bytes.Buffer
		command.Stdout, command.Stderr = &stdout, &stderr
		if err := command.Run(); err != nil {
			t.Fatalf("helm %q: %v\n%s%s", args, err, stdout.String(), stderr.String())
		}
		return &stdout
	}
	set := []string{"--set", strings.Join(settings, ",")}
	for _, chart := range []string{"chart", "interlock-1.2.3.tgz"} {
		helm(append([]string{"lint", "--strict", "--quiet", filepath.Join(r.out, chart)}, set...)...)
	}
	strict := exec.Command(tool(t, "kuberead"))
	packed := filepath.Join(r.out, "interlock-1.2.3.tgz")
	strict.Stdin = helm(append([]string{"template", "agents", packed, "--namespace", "tools"}, set...)...)
	out, err := strict.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	objects := map[string]map[string]any{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var object map[string]any
		if err := d.Decode(&object); errors.Is(err, io.EOF) {
			return objects
		} else if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		objects[fmt.Sprint(object["kind"])] = object
	}
}

// at follows a path of members and indices.
func at(value any, path ...any) any {
	for _, step := range path {
		switch v := value.(type) {
		case map[string]any:
			value = v[fmt.Sprint(step)]
		case []any:
			value = v[step.(int)]
		default:
			return nil
		}
	}
	return value
}

// TestTheChart renders the chart and reads what comes of it: with its own values, and with all that can be switched on.
func TestTheChart(t *testing.T) {
	plain := rendered(t, "service.port=7433")
	if len(plain) != 3 || plain["Ingress"] != nil {
		t.Errorf("%d objects", len(plain))
	}
	pod := func(more ...any) []any { return append([]any{"spec", "template", "spec"}, more...) }
	container := func(more ...any) []any { return pod(append([]any{"containers", 0}, more...)...) }
	for want, path := range map[string][]any{
		"true":              container("securityContext", "readOnlyRootFilesystem"),
		"interlock:1.2.3":   container("image"),
		"RuntimeDefault":    pod("securityContext", "seccompProfile", "type"),
		"2Gi":               {"spec", "volumeClaimTemplates", 0, "spec", "resources", "requests", "storage"},
		"localhost":         container("readinessProbe", "httpGet", "httpHeaders", 0, "value"),
		"agents-interlock":  {"metadata", "name"},
		"interlock.yaml":    container("volumeMounts", 1, "subPath"),
		"map[memory:512Mi]": container("resources", "limits"),
		"agents":            {"metadata", "labels", "app.kubernetes.io/instance"},
		"[ReadWriteOnce]":   {"spec", "volumeClaimTemplates", 0, "spec", "accessModes"},
		"1":                 {"spec", "replicas"},
		"map[drop:[ALL]]":   container("securityContext", "capabilities"),
		"false":             container("securityContext", "allowPrivilegeEscalation"),
		"/healthz":          container("livenessProbe", "httpGet", "path"),
		"/readyz":           container("readinessProbe", "httpGet", "path"),
		"65532":             pod("securityContext", "fsGroup"),
	} {
		if got := fmt.Sprint(at(plain["StatefulSet"], path...)); got != want {
			t.Errorf("%v: %s, want %s", path, got, want)
		}
	}
	full := rendered(t, "ingress.enabled=true", "ingress.className=nginx", "ingress.annotations.a=b", "hosts={agents.example.com}",
		"settings.profile=supervised", "nodeSelector.disk=ssd", "persistence.storageClass=fast", "imagePullSecrets[0].name=own",
		"tolerations[0].key=agents", "affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight=1")
	if got := fmt.Sprint(at(full["Ingress"], "spec", "rules", 0, "http", "paths", 0, "backend", "service", "name")); got != "agents-interlock" {
		t.Errorf("the ingress leads to %s", got)
	}
	// What the server would read is what it takes.
	file := filepath.Join(t.TempDir(), "interlock.yaml")
	for _, text := range []string{fmt.Sprint(at(full["ConfigMap"], "data", "interlock.yaml")), read(t, "files/container/interlock.yaml")} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if c, err := config.Load(t.TempDir(), file); err != nil || c.Listen != "0.0.0.0:7433" || !c.AllowRemote {
			t.Errorf("%v\n%s", err, text)
		} else if len(c.Hosts) > 0 && (len(c.Hosts) != 5 || c.Hosts[2] != "agents-interlock.tools.svc" || c.Profile != "supervised") {
			t.Errorf("%+v", c)
		}
	}
}

// TestComposeBuildsWhatIsThere has Compose's own reader read the file, and looks for what it names.
func TestComposeBuildsWhatIsThere(t *testing.T) {
	r := &release{source: "..", version: "1.2.3", module: ownPath, out: t.TempDir()}
	if err := r.files(""); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(tool(t, "composeread"), "-format", "json", "compose.yaml")
	command.Dir = filepath.Join(r.out, "container")
	out, err := command.CombinedOutput()
	var compose map[string]any
	if err != nil || json.Unmarshal(out, &compose) != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	service := func(path ...any) string {
		return fmt.Sprint(at(compose, append([]any{"services", "interlock"}, path...)...))
	}
	for want, got := range map[string]string{"true": service("read_only"), "65532:65532": service("user"),
		"[ALL]": service("cap_drop"), "127.0.0.1": service("ports", 0, "host_ip"), "volume": service("volumes", 0, "type"),
		"[no-new-privileges:true]": service("security_opt")} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	// A file that is mounted from outside belongs to somebody else, and would be refused.
	if strings.Contains(string(out), `"bind"`) {
		t.Errorf("something of this machine is mounted: %s", out)
	}
	if _, err := os.Stat(filepath.Join(service("build", "context"), service("build", "dockerfile"))); err != nil {
		t.Error(err)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
