package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/template"

	"github.com/goccy/go-yaml"

	"interlock/internal/config"
)

// rendered renders the chart as Helm does, as far as it uses Helm: with those of its functions that the templates call.
func rendered(t *testing.T, change func(values map[string]any)) map[string]map[string]any {
	t.Helper()
	r := &release{source: "..", version: "1.2.3", module: ownPath}
	load := func(name string) (out map[string]any) {
		text, err := r.filled("chart/"+name, nil)
		if err == nil {
			err = yaml.Unmarshal(text, &out)
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return out
	}
	values, chart := load("values.yaml"), load("Chart.yaml")
	change(values)
	all := template.New("chart").Option("missingkey=error")
	all.Funcs(template.FuncMap{
		"include": func(name string, data any) (string, error) {
			var b bytes.Buffer
			err := all.ExecuteTemplate(&b, name, data)
			return b.String(), err
		},
		"nindent": func(n int, s string) string {
			pad := strings.Repeat(" ", n)
			return "\n" + pad + strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n"+pad)
		},
		"toYaml": func(v any) (string, error) {
			text, err := yaml.Marshal(v)
			return strings.TrimSpace(string(text)), err
		},
		"quote": func(v any) string { return fmt.Sprintf("%q", fmt.Sprint(v)) },
		"default": func(usual, v any) any {
			if v == nil || v == "" {
				return usual
			}
			return v
		},
		"trunc":      func(n int, s string) string { return s[:min(n, len(s))] },
		"trimSuffix": func(suffix, s string) string { return strings.TrimSuffix(s, suffix) },
		"sha256sum":  func(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) },
	})
	names, err := filepath.Glob("files/chart/templates/*")
	if err != nil || len(names) < 4 {
		t.Fatalf("%v %v", names, err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err == nil {
			_, err = all.New("templates/" + filepath.Base(name)).Parse(string(text))
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	data := map[string]any{"Values": values, "Chart": map[string]any{"Name": chart["name"], "Version": chart["version"],
		"AppVersion": chart["appVersion"]}, "Release": map[string]any{"Name": "agents", "Namespace": "tools"},
		"Template": map[string]any{"BasePath": "templates"}}
	objects := map[string]map[string]any{}
	for _, name := range names {
		var b bytes.Buffer
		if err := all.ExecuteTemplate(&b, "templates/"+filepath.Base(name), data); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if filepath.Ext(name) != ".yaml" {
			continue
		}
		for _, text := range strings.Split(b.String(), "\n---\n") {
			var object map[string]any
			if err := yaml.Unmarshal([]byte(text), &object); err != nil {
				t.Fatalf("%s: %v\n%s", name, err, text)
			}
			objects[fmt.Sprint(object["kind"])] = object
		}
	}
	return objects
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
	plain := rendered(t, func(map[string]any) {})
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
	} {
		if got := fmt.Sprint(at(plain["StatefulSet"], path...)); got != want {
			t.Errorf("%v: %s, want %s", path, got, want)
		}
	}
	full := rendered(t, func(values map[string]any) {
		values["ingress"].(map[string]any)["enabled"] = true
		values["ingress"].(map[string]any)["className"] = "nginx"
		values["hosts"] = []any{"agents.example.com"}
		values["settings"] = map[string]any{"profile": "supervised"}
		values["nodeSelector"] = map[string]any{"disk": "ssd"}
		values["persistence"].(map[string]any)["storageClass"] = "fast"
	})
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
	var compose map[string]any
	if err := yaml.Unmarshal([]byte(read(t, "files/container/compose.yaml")), &compose); err != nil ||
		fmt.Sprint(at(compose, "services", "interlock", "user")) != "65532:65532" {
		t.Errorf("compose.yaml: %v %v", compose, err)
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
