package shell

import (
	"path"
	"slices"
	"strings"

	"interlock/internal/impact/flow"
	"interlock/internal/lex"
)

// gradleRecipe returns what the blocks of a Gradle build run, as a script: those outside of tasks, and those of tasks that are
// asked for or that others need.
func gradleRecipe(text string, asked []flow.Field) string {
	text = withoutBlocks(text, func(line string) bool {
		name := gradleTask(line)
		return name != "" && !isAsked(name, asked) && !needed(text, name)
	})
	var out strings.Builder
	for _, call := range [...]string{"commandLine", "executable", "delete"} {
		rest := text
		for out.Len() < maxRecipe {
			at := strings.Index(rest, call)
			if at < 0 {
				break
			}
			rest = rest[at+len(call):]
			args, next, _ := lex.LiteralArguments(strings.TrimPrefix(strings.TrimLeft(rest, " =("), "listOf"), 0)
			if len(args) == 0 {
				continue
			}
			if rest = rest[min(next, len(rest)):]; call == "delete" {
				args = append([]string{"rm", "-rf"}, args...)
			}
			out.WriteString(QuoteAll(flow.Literals(args)) + "\n")
		}
	}
	return out.String()
}

// gradleTask is the name of the task that a line begins to describe.
func gradleTask(line string) string {
	line = strings.TrimSpace(line)
	for _, begin := range [...]string{"task ", "task(", "tasks.register", "tasks.create", "tasks.named"} {
		rest, ok := strings.CutPrefix(line, begin)
		if !ok {
			continue
		}
		if at := strings.IndexAny(rest, `"'`); at >= 0 && at < strings.IndexByte(rest+"{", '{') &&
			!strings.HasPrefix(begin, "task ") {
			name, _ := lex.StringLiteral(rest, at)
			return name
		}
		end := strings.IndexAny(rest+" ", " ({")
		return rest[:end]
	}
	return ""
}

// needed reports whether a task is among those that another one needs.
func needed(text, name string) bool {
	for _, word := range [...]string{"dependsOn", "finalizedBy", "defaultTasks"} {
		rest := text
		for range 16 {
			at := strings.Index(rest, word)
			if at < 0 {
				break
			}
			rest = rest[at+len(word):]
			line, _, _ := strings.Cut(rest, "\n")
			if strings.Contains(line, name) {
				return true
			}
		}
	}
	return false
}

// isAsked reports whether a target is among those given, by its whole name or the last part of it.
func isAsked(name string, asked []flow.Field) bool {
	for _, a := range asked {
		if a.Dynamic || a.Text[strings.LastIndexByte(a.Text, ':')+1:] == name {
			return true
		}
	}
	return false
}

// withoutBlocks leaves out the lines of blocks in braces, or up to "end" at the same depth, whose first line drop says.
func withoutBlocks(text string, drop func(line string) bool) string {
	var out strings.Builder
	depth, indent := 0, -1
	for line := range strings.SplitSeq(text, "\n") {
		bare := strings.TrimLeft(line, " \t")
		switch {
		case indent >= 0: // a block of Ruby
			if strings.HasPrefix(bare, "end") && len(line)-len(bare) <= indent {
				indent = -1
			}
			continue
		case depth > 0:
			depth += strings.Count(line, "{") - strings.Count(line, "}")
			continue
		case drop(line):
			if depth = strings.Count(line, "{") - strings.Count(line, "}"); strings.Contains(line+" ", " do ") {
				depth, indent = 0, len(line)-len(bare)
			}
			continue
		}
		out.WriteString(line + "\n")
	}
	return out.String()
}

// rakeRecipe is a Rakefile without the tasks that are not asked for and that no other needs.
func rakeRecipe(text string, asked []flow.Field) string {
	return withoutBlocks(text, func(line string) bool {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "task ")
		if !ok {
			rest, ok = strings.CutPrefix(strings.TrimSpace(line), "lane ")
		}
		name := strings.TrimLeft(rest, ":'\"")
		name = name[:strings.IndexAny(name+" ", " ,:'\"=")]
		return ok && len(asked) > 0 && name != "" && !isAsked(name, asked) && strings.Count(text, name) < 2
	})
}

// cmakeKeywords are the words that end a command behind COMMAND.
var cmakeKeywords = lex.Set([]string{"WORKING_DIRECTORY", "DEPENDS", "COMMENT", "VERBATIM", "OUTPUT_VARIABLE", "RESULT_VARIABLE",
	"ERROR_VARIABLE",
	"OUTPUT_STRIP_TRAILING_WHITESPACE", "ERROR_QUIET", "OUTPUT_QUIET", "BYPRODUCTS", "USES_TERMINAL",
	"COMMAND_ERROR_IS_FATAL", "TIMEOUT",
	"INPUT_FILE", "OUTPUT_FILE", "ERROR_FILE", "ENCODING", "SOURCES", "ARGS", "MAIN_DEPENDENCY", "DEPFILE",
	"COMMAND_ECHO", "APPEND"})

// cmakeRecipe returns the commands that CMake's own commands give behind COMMAND, as a script.
func cmakeRecipe(text string) string {
	var out strings.Builder
	for _, rest := range strings.Split(text, "COMMAND ")[1:] {
		if end := strings.IndexByte(rest, ')'); end >= 0 && end < len(rest) {
			rest = rest[:end]
		}
		rest = strings.NewReplacer("${CMAKE_COMMAND}", "cmake", "${Python3_EXECUTABLE}", "python3", "${PYTHON_EXECUTABLE}",
			"python3").Replace(rest)
		var words []string
		for _, word := range cmakeWords(rest) {
			if cmakeKeywords.Has(word) {
				break
			}
			words = append(words, word)
		}
		if len(words) > 0 && !strings.Contains(words[0], "$") && out.Len() < maxRecipe {
			out.WriteString(QuoteAll(flow.Literals(words)) + "\n")
		}
	}
	return out.String()
}

// cmakeWords splits what is between brackets at blanks, with quoted texts as one word.
func cmakeWords(text string) (words []string) {
	for i := 0; i < len(text); {
		switch {
		case strings.IndexByte(" \t\n", text[i]) >= 0:
			i++
		case text[i] == '"':
			var word string
			word, i = lex.StringLiteral(text, i)
			words = append(words, word)
		default:
			end := strings.IndexAny(text[i:]+" ", " \t\n")
			words = append(words, text[i:i+end])
			i += end
		}
	}
	return words
}

// composerRecipe returns what composer.json runs for the script asked for, or at an installation.
func composerRecipe(text string, u *flow.Use) string {
	_, scripts, ok := strings.Cut(text, `"scripts"`)
	if !ok {
		return ""
	}
	last := u.Spec.Name[strings.LastIndexByte(u.Spec.Name, ' ')+1:]
	names := []string{last, "pre-" + last + "-cmd", "post-" + last + "-cmd", "post-autoload-dump", "pre-autoload-dump"}
	if len(u.Operands) > 0 {
		names = append(names, u.Operands[0].Text)
	}
	var out strings.Builder
	for _, name := range names {
		_, value, found := strings.Cut(scripts, `"`+name+`"`)
		if value = strings.TrimLeft(value, " \t\r\n:"); !found || value == "" || value[0] != '"' && value[0] != '[' {
			continue
		}
		lines, _, _ := lex.LiteralArguments(value, 0)
		if value[0] == '"' {
			lines = lines[:min(1, len(lines))]
		}
		for _, line := range lines {
			if !strings.HasPrefix(line, "@") && !strings.Contains(line, "::") {
				out.WriteString(line + "\n")
			}
		}
	}
	return out.String()
}

// tomlRecipe returns the commands that a TOML file gives the tasks asked for, whatever the runner calls its table.
func tomlRecipe(text string, asked []flow.Field) string {
	var out strings.Builder
	table, within := "", false
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]") {
			table = strings.Trim(line, "[]")
			within = strings.HasSuffix(table, "tasks") || strings.HasSuffix(table, "scripts") && table != "project.scripts" &&
				table != "tool.poetry.scripts"
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok || out.Len() > maxRecipe {
			continue
		}
		key, value = strings.Trim(key, " \"'"), strings.TrimSpace(value)
		switch name := table[strings.LastIndexByte(table, '.')+1:]; {
		case within && isAsked(key, asked):
			for _, command := range tomlCommands(value) {
				out.WriteString(command + "\n")
			}
		case strings.Contains(table, "tasks.") && isAsked(strings.Trim(name, `"'`), asked) && taskKeys.Has(key) || key == "shell" &&
			isAsked(name, asked):
			for _, command := range tomlCommands(value) {
				out.WriteString(command + "\n")
			}
		}
	}
	return out.String()
}

// tomlCommands are the commands in the value of a task: a text, a list of them, or a table with one.
func tomlCommands(value string) []string {
	if strings.HasPrefix(value, "{") {
		for _, key := range [...]string{"cmd", "shell", "run", "sequence", "composite"} {
			if _, rest, ok := strings.Cut(value, key); ok {
				value = strings.TrimLeft(rest, " =")
				break
			}
		}
	}
	commands, _, _ := lex.LiteralArguments(value, 0)
	if strings.HasPrefix(value, "{") {
		return nil
	}
	return commands
}

// cargoRecipe returns the programs that cargo's configuration has run what is built, and the compiler.
func cargoRecipe(text string) string {
	var out strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		key, value, ok := strings.Cut(line, "=")
		switch key = strings.TrimSpace(key); {
		case !ok || out.Len() > maxRecipe:
		case key == "runner" || key == "rustc-wrapper" || key == "rustc-workspace-wrapper" || key == "rustc" || key == "linker":
			if words, _, _ := lex.LiteralArguments(value, 0); len(words) > 0 {
				out.WriteString(strings.Join(words, " ") + "\n")
			}
		}
	}
	return out.String()
}

// procfileRecipe returns what a Procfile starts.
func procfileRecipe(text string) string {
	var out strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		if name, command, ok := strings.Cut(line, ":"); ok && !strings.ContainsAny(name, " #") && out.Len() < maxRecipe {
			out.WriteString(strings.TrimSpace(command) + "\n")
		}
	}
	return out.String()
}

// antRecipe returns what the exec tasks of a build.xml run.
func antRecipe(text string) string {
	var out strings.Builder
	for _, block := range strings.Split(text, "<exec ")[1:] {
		block, _, _ = strings.Cut(block, "</exec>")
		line := ""
		for _, key := range [...]string{"executable=", "line=", "value="} {
			for _, rest := range strings.Split(block, key)[1:] {
				if rest != "" && (rest[0] == '"' || rest[0] == '\'') {
					word, _ := lex.StringLiteral(rest, 0)
					line += word + " "
				}
			}
		}
		if out.Len() < maxRecipe {
			out.WriteString(line + "\n")
		}
	}
	return out.String()
}

// inWorkspaces are the folders in which a package manager that is told of a workspace finds its package.json.
func inWorkspaces(u *flow.Use) (dirs []string) {
	given := []string{valueOf(u, "--workspace").Text, valueOf(u, "--filter").Text}
	if strings.HasSuffix(u.Spec.Name, " workspace") && len(u.Operands) > 0 {
		given = append(given, u.Operands[0].Text)
	}
	if n := len(u.Operands); n > 0 && has(u, "-w") && strings.HasPrefix(u.Via, "npm") {
		given = append(given, u.Operands[n-1].Text)
	}
	for _, name := range given {
		name = strings.Trim(name, "./*{}")
		if name == "" {
			continue
		}
		base := path.Base(name)
		for _, dir := range [...]string{name, "packages/" + base, "apps/" + base, base} {
			if !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	return dirs
}
