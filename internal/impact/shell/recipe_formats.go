package shell

import (
	"strings"

	"interlock/internal/impact/flow"
	"interlock/internal/lex"
)

// justRecipe returns the recipes of a justfile that are asked for, as a script: they are those of a Makefile but for how a
// variable is written, and any indentation marks a line.
func justRecipe(text string, asked []flow.Field) string {
	var out strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		bare := strings.TrimLeft(line, " \t")
		switch {
		case bare != line && bare != "":
			out.WriteString("\t" + strings.ReplaceAll(strings.NewReplacer("{{", "${", "}}", "}").Replace(bare), "$", "$$") + "\n")
		case strings.Contains(line, ":="):
			name, value, _ := strings.Cut(strings.TrimPrefix(line, "export "), ":=")
			out.WriteString(strings.TrimSpace(name) + "=" + yamlText(value) + "\n")
		default:
			head, needs, found := strings.Cut(strings.TrimLeft(line, "@"), ":")
			if name := strings.Fields(head); found && len(name) > 0 { // what follows the name are parameters
				line = name[0] + ":" + needs
			}
			out.WriteString(line + "\n")
		}
	}
	return makeRecipe(out.String(), asked)
}

// taskKeys are the keys under which lists of tasks and hooks keep what they run.
var taskKeys = lex.Set([]string{"cmd", "cmds", "run", "entry", "command", "commands", "script", "sh",
	"before_script", "after_script"})

// taskRecipe returns the commands of a YAML file of tasks, as a script: of the tasks asked for, or of all where those need
// others or are not found.
func taskRecipe(text string, asked []flow.Field) string {
	blocks := ""
	for _, target := range asked {
		block := yamlBlock(text, target.Text)
		if target.Dynamic || block == "" || strings.Contains(block, "deps:") || strings.Contains(block, "task:") {
			blocks = text
			break
		}
		blocks += block
	}
	if blocks == "" {
		blocks = text
	}
	var out strings.Builder
	indent, listed := -1, false // of the key whose commands are being read
	for line := range strings.SplitSeq(blocks, "\n") {
		bare := strings.TrimLeft(line, " ")
		depth := len(line) - len(bare)
		item, isItem := strings.CutPrefix(bare, "- ")
		key, value, keyed := strings.Cut(strings.TrimSpace(item), ":")
		switch {
		case bare == "" || bare[0] == '#' || out.Len() > maxRecipe:
		case keyed && taskKeys.Has(key):
			indent, listed = depth, value == ""
			if value = strings.TrimSpace(value); !strings.HasPrefix(value, "|") && !strings.HasPrefix(value, ">") {
				out.WriteString(yamlText(value) + "\n")
			}
		case indent >= 0 && depth >= indent && isItem && listed && (!keyed || strings.ContainsAny(key, " \"'")):
			out.WriteString(yamlText(item) + "\n")
		case indent >= 0 && depth > indent && !isItem && !keyed:
			out.WriteString(yamlText(bare) + "\n")
		case indent >= 0 && depth > indent && !isItem && !listed:
			out.WriteString(bare + "\n") // a line of a block, with a colon in it
		default:
			indent = -1
		}
	}
	return strings.NewReplacer("{{.", "${", "}}", "}").Replace(out.String())
}

// yamlText is a scalar without its quotes, or the words of a list in brackets.
func yamlText(value string) string {
	value = strings.TrimSpace(value)
	if list, ok := strings.CutPrefix(value, "["); ok {
		return strings.ReplaceAll(strings.TrimSuffix(list, "]"), ",", " ")
	}
	if len(value) > 1 && (value[0] == '"' || value[0] == '\'') && value[len(value)-1] == value[0] {
		if value[0] == '"' {
			return jsonString(value)
		}
		return strings.ReplaceAll(value[1:len(value)-1], "''", "'")
	}
	return value
}

// yamlBlock is what is under a key, at any depth; empty if there is no such key.
func yamlBlock(text, name string) string {
	var out strings.Builder
	indent := -1
	for line := range strings.SplitSeq(text, "\n") {
		bare := strings.TrimLeft(line, " ")
		depth := len(line) - len(bare)
		switch {
		case indent >= 0 && (depth > indent || bare == ""):
			out.WriteString(line + "\n")
		case indent >= 0:
			return out.String()
		default:
			if rest, ok := strings.CutPrefix(strings.TrimLeft(bare, `"'`), name); ok && name != "" &&
				strings.HasPrefix(strings.TrimLeft(rest, `"'`), ":") {
				indent = depth
				out.WriteString("cmds:" + strings.TrimPrefix(strings.TrimLeft(rest, `"'`), ":") + "\n")
			}
		}
	}
	return out.String()
}

// iniRecipe returns the commands of a tox.ini, as a script.
func iniRecipe(text string) string {
	var out strings.Builder
	within := false
	for line := range strings.SplitSeq(text, "\n") {
		bare := strings.TrimLeft(line, " \t")
		key, value, keyed := strings.Cut(line, "=")
		switch {
		case out.Len() > maxRecipe:
			return out.String()
		case within && bare != line:
			out.WriteString(strings.TrimPrefix(bare, "- ") + "\n")
		case keyed && strings.HasPrefix(strings.TrimSpace(key), "commands"):
			within = true
			out.WriteString(value + "\n")
		default:
			within = false
		}
	}
	return strings.NewReplacer("{posargs}", "", "{toxinidir}", ".", "{env:", "${", "{envpython}", "python").Replace(out.String())
}
