package call

import (
	"strings"

	"interlock"
	"interlock/internal/impact/shell"
	"interlock/internal/lex"
)

// holdsEnvironment reports whether an argument is by its name the environment of a program that a tool starts.
func holdsEnvironment(key string) bool {
	switch strings.ReplaceAll(key, "_", "") {
	case "env", "envs", "environ", "environment", "envvars", "environmentvariables", "extraenv", "setenv":
		return true
	}
	return false
}

// environment judges the variables that a tool gives to a program it starts, as if a shell had exported them.
func (s callRun) environment(key string, variables map[string]any) {
	if !holdsEnvironment(key) {
		return
	}
	for i, name := range lex.SortedNames(variables) {
		if text, ok := variables[name].(string); ok && i < shell.MaxBraces {
			s.exported(name + "=" + text)
		}
	}
}

// environmentList is environment for a list of NAME=value, or of objects with a name and a value.
func (s callRun) environmentList(key string, list []any) {
	if !holdsEnvironment(key) {
		return
	}
	for i, item := range list {
		if i >= shell.MaxBraces {
			return
		}
		switch v := item.(type) {
		case string:
			s.exported(v)
		case map[string]any:
			name, _ := v["name"].(string)
			if name == "" {
				name, _ = v["key"].(string)
			}
			if text, ok := v["value"].(string); ok {
				s.exported(name + "=" + text)
			}
		}
	}
}

// exported judges one variable, NAME=value. What is no variable is left to the other readings.
func (s callRun) exported(assignment string) {
	name, text, ok := strings.Cut(assignment, "=")
	if !ok || len(assignment) > lex.MaxText || !shell.IsName(name) {
		return
	}
	s.Nested(interlock.KindShell, "export "+name+"='"+strings.ReplaceAll(text, "'", `'\''`)+"'")
}

// variableNamed judges an argument that is named as a variable of git is, and is handed on to git as that: git_dir, gitDir.
func (s callRun) variableNamed(key, text string) {
	if len(key) < 5 || !strings.EqualFold(key[:3], "git") || len(text) > lex.MaxText {
		return
	}
	name := strings.ToUpper(strings.Join(lex.NameWords(key), "_"))
	if s.Know.Obeys(name) && text != "" {
		s.exported(name + "=" + text)
	}
}
