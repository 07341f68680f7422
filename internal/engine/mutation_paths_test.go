package engine

import (
	"math/rand/v2"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// pathSpellings write a path otherwise. Left out is what names something else: a slash behind a file is an error, and a
// link on the way can lead anywhere.
func pathSpellings() []respelling {
	path := func(name string, weak bool, spell func(r *rand.Rand, w string) string) respelling {
		return respelling{name: name, weak: weak, apply: func(r *rand.Rand, script string) (string, bool) {
			var words []wordAt
			for _, w := range plainWords(script) {
				if !w.command && w.text[0] == '/' && strings.Trim(w.text, "/.") != "" {
					words = append(words, w)
				}
			}
			// a piece of a path may be no path, nor one that is read backwards
			if len(words) == 0 || strings.Contains(script, "$(printf") || strings.Contains(script, " | rev") {
				return "", false
			}
			w := words[r.IntN(len(words))]
			return script[:w.from] + spell(r, w.text) + script[w.to:], true
		}}
	}
	between := func(what string) func(r *rand.Rand, w string) string {
		return func(r *rand.Rand, w string) string {
			parts := strings.Split(w, "/")
			at := 1 + r.IntN(len(parts)-1)
			return strings.Join(parts[:at], "/") + what + strings.Join(parts[at:], "/")
		}
	}
	return []respelling{
		path("doubled slash", false, between("//")),
		path("dot in a path", false, between("/./")),
		path("climbing in a path", false, between("/tmp/../")),
		path("climbing over the root", false, func(_ *rand.Rand, w string) string { return "/.." + w }),
		path("climbing from here", false, func(_ *rand.Rand, w string) string { return "../../../../.." + w }),
		path("climbing from a directory of the system", false, func(_ *rand.Rand, w string) string { return "/usr/.." + w }),
		path("through the process's root", false, func(_ *rand.Rand, w string) string { return "/proc/self/root" + w }),
		path("question mark", true, func(r *rand.Rand, w string) string {
			at := 1 + r.IntN(len(w)-1)
			// no pattern's ? fits a slash, or the dot a name begins with, and what is mounted:where is no file's name
			if w[at] == '/' || w[at] == '.' && w[at-1] == '/' || strings.Contains(w, ":") {
				return w
			}
			return w[:at] + "?" + w[at+1:]
		}),
		path("class", true, func(r *rand.Rand, w string) string {
			if strings.Contains(w, ":") {
				return w
			}
			n := len(w) - 1
			return w[:n] + "[" + w[n:] + "]"
		}),
		path("star", true, func(_ *rand.Rand, w string) string {
			if strings.Contains(w, ":") {
				return w
			}
			return w[:len(w)-1] + "*"
		}),
		{name: "braces", apply: func(r *rand.Rand, script string) (string, bool) { // twice the same path, for programs that take several
			call, ok := simple(script)
			if !ok || !slices.Contains([]string{"rm", "cat", "chmod", "chown", "shred", "head"}, call.Args[0].Lit()) ||
				!strings.HasPrefix(call.Args[len(call.Args)-1].Lit(), "/") {
				return "", false
			}
			return script + "{,}", true
		}},
		path("home by its name", false, homeAs("~")), path("home as a variable", false, homeAs("$HOME")), path("home in quotes", false, homeAs(`"$HOME"`)),
		path("home in braces", false, homeAs("${HOME}")), path("home of the user", false, homeAs("~user")),
		path("home with a default", false, homeAs("${HOME:-/root}")),
		path("home by echo", false, homeAs("$(echo ~)")), path("home by cd", false, homeAs("$(cd; pwd)")),
		{name: "path of the program", apply: func(r *rand.Rand, script string) (string, bool) {
			call, ok := simple(script)
			if !ok || strings.Contains(call.Args[0].Lit(), "/") {
				return "", false
			}
			dir := []string{"/bin/", "/usr/bin/", "///bin//", "/usr/../bin/", "/sbin/", "/usr/local/bin/", "/bin/./",
				"../../../../bin/", "/usr/bin/../../bin/"}[r.IntN(9)]
			at := int(call.Args[0].Pos().Offset())
			return script[:at] + dir + script[at:], true
		}},
		{name: "pattern for the program", weak: true, apply: func(r *rand.Rand, script string) (string, bool) {
			call, ok := simple(script)
			if !ok || len(call.Args[0].Lit()) < 2 || strings.ToLower(call.Args[0].Lit()) != call.Args[0].Lit() ||
				strings.Trim(call.Args[0].Lit(), plainLetters) != "" || strings.ContainsAny(call.Args[0].Lit(), "/.") {
				return "", false
			}
			name, at := call.Args[0].Lit(), int(call.Args[0].Pos().Offset())
			if !strings.HasPrefix(script[at:], name) { // a line goes on inside it
				return "", false
			}
			hole := r.IntN(len(name))
			return script[:at] + []string{"/bin/", "/usr/bin/", "/?in/", "/*/bin/"}[r.IntN(4)] + name[:hole] + "?" + name[hole+1:] + script[at+len(name):], true
		}},
		{name: "capitals in the program", apply: func(_ *rand.Rand, script string) (string, bool) { // the same program where file names have no case
			call, ok := simple(script)
			if !ok || strings.Contains(call.Args[0].Lit(), "/") {
				return "", false
			}
			at, end := int(call.Args[0].Pos().Offset()), int(call.Args[0].End().Offset())
			return script[:at] + strings.ToUpper(script[at:end]) + script[end:], true
		}},
	}
}

// homeAs writes the home directory in another way.
func homeAs(home string) func(*rand.Rand, string) string {
	return func(_ *rand.Rand, w string) string {
		if rest, ok := strings.CutPrefix(w, "/home/user"); ok && (rest == "" || rest[0] == '/') {
			return home + rest
		}
		return w
	}
}

// flagSpellings write flags otherwise, for the programs whose flags take no values and may stand anywhere.
func flagSpellings() []respelling {
	long := map[string][]string{
		"-r": {"--recursive", "--recurs", "-R"}, "-f": {"--force", "--forc"},
		"-rf": {"-fr", "-Rf", "-r -f", "-f -r", "--recursive --force", "--force --recursive", "-rfv", "-vrf", "-rff", "-rf -rf", "--recu --fo", "-rfi -f"},
		"-R":  {"--recursive", "-R -R", "-vR"}, "-fr": {"-rf", "-r --force", "-d -fr"}, "--force": {"-f"}, "--hard": {"--har"},
		"-D": {"--delete --force", "-d -f"}, "-fdx": {"-dfx", "-f -d -x", "-xdf", "--force -dx"},
		"--delete": {"-d"}, "-A": {"--all"}, "--all": {"--all=true"}, "-af": {"-a -f", "-fa", "--all --force"},
		"-v": {"--volumes"}, "-auto-approve": {"--auto-approve", "-auto-approve=true"}, "-u": {"--remove"},
		"-9": {"-KILL", "-s KILL", "-SIGKILL", "-s 9", "-n 9"}, "-s": {"--size"}, "-aG": {"-a -G", "-Ga"},
	}
	known := map[string][]string{ // whose flags are those
		"rm": {"-r", "-f", "-rf", "-fr"}, "chmod": {"-R"}, "chown": {"-R"}, "git push": {"--force", "--delete"},
		"git reset": {"--hard"}, "git branch": {"-D"}, "git clean": {"-fdx"}, "docker system": {"-af"},
		"terraform destroy": {"-auto-approve"}, "terraform apply": {"-auto-approve"}, "shred": {"-u"}, "kill": {"-9"},
		"pkill": {"-9"}, "truncate": {"-s"}, "usermod": {"-aG"}, "docker compose": {"-v"},
	}
	return []respelling{
		{name: "flags otherwise", apply: func(r *rand.Rand, script string) (string, bool) {
			for prefix, flags := range known {
				if !strings.HasPrefix(script, prefix+" ") {
					continue
				}
				for _, flag := range flags {
					before, after, ok := strings.Cut(script, " "+flag+" ")
					if ok && !strings.ContainsAny(before, "$`(<>|;&\n") { // it would be another program's flag
						return before + " " + long[flag][r.IntN(len(long[flag]))] + " " + after, true
					}
				}
			}
			return "", false
		}},
		{name: "flags behind", apply: func(_ *rand.Rand, script string) (string, bool) { // as GNU programs allow
			words := strings.Fields(script)
			if _, ok := simple(script); !ok || len(words) < 3 ||
				!slices.Contains([]string{"rm", "chown", "shred", "rmdir", "cp", "mv"}, words[0]) || strings.Trim(script, plainLetters+" ~") != "" {
				return "", false
			}
			for len(words) > 2 && words[1][0] == '-' {
				words = append(append([]string{words[0]}, words[2:]...), words[1])
				if words[1][0] != '-' {
					break
				}
			}
			return strings.Join(words, " "), true
		}},
		{name: "end of flags", apply: func(_ *rand.Rand, script string) (string, bool) {
			words := strings.Fields(script)
			if len(words) < 2 || !slices.Contains([]string{"rm", "chmod", "chown", "shred", "rmdir", "unlink", "cat", "head", "mv"}, words[0]) {
				return "", false
			}
			call, ok := simple(script)
			if !ok {
				return "", false
			}
			for i, w := range call.Args[1:] {
				// Whether a word is a flag must show in its spelling: behind -- it would be none.
				text, plain := plainWord(w)
				if !plain {
					return "", false
				}
				if !strings.HasPrefix(text, "-") && (i == 0 || words[0] != "head") {
					for _, later := range call.Args[i+2:] {
						if text, plain := plainWord(later); !plain || strings.HasPrefix(text, "-") {
							return "", false
						}
					}
					at := int(w.Pos().Offset())
					return script[:at] + "-- " + script[at:], !strings.Contains(script, " -- ")
				}
			}
			return "", false
		}},
	}
}

// plainWord returns a word's text where quotes are all that stands between it and its spelling.
func plainWord(w *syntax.Word) (text string, plain bool) {
	var b strings.Builder
	parts := w.Parts
	for len(parts) > 0 {
		switch p := parts[0].(type) {
		case *syntax.Lit:
			b.WriteString(strings.ReplaceAll(p.Value, `\`, ""))
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			if p.Dollar {
				return "", false
			}
			parts = append(append([]syntax.WordPart{nil}, p.Parts...), parts[1:]...)
		default:
			return "", false
		}
		parts = parts[1:]
	}
	return b.String(), true
}

// layouts change what stands between and around words.
func layouts() []respelling {
	gap := func(name, what string, benign bool) respelling {
		return respelling{name: name, benign: benign, apply: func(r *rand.Rand, script string) (string, bool) {
			file := parseScript(script)
			if file == nil {
				return "", false
			}
			var gaps []int
			syntax.Walk(file, func(n syntax.Node) bool {
				switch n.(type) {
				case *syntax.CmdSubst, *syntax.ProcSubst: // what it prints is wanted
					return name[0] != 'r'
				}
				if call, ok := n.(*syntax.CallExpr); ok {
					for _, w := range call.Args[min(1, len(call.Args)):] {
						gaps = append(gaps, int(w.Pos().Offset()))
					}
				}
				return true
			})
			if len(gaps) == 0 {
				return "", false
			}
			at := gaps[r.IntN(len(gaps))]
			return script[:at] + what + script[at:], true
		}}
	}
	redirected := func(what string, benign bool) respelling {
		one := gap("redirection "+what, what+" ", benign)
		inner := one.apply
		one.apply = func(r *rand.Rand, script string) (string, bool) {
			if _, ok := simple(script); !ok || !noStreams(script) {
				return "", false
			}
			return inner(r, script)
		}
		return one
	}
	padding := strings.Repeat("x", 3000)
	out := []respelling{
		gap("blanks", "   ", true), gap("tab", "\t", true), gap("line continuation", "\\\n", true),
		gap("line continuations", "\\\n  \\\n\t", true), gap("many blanks", strings.Repeat(" ", 5000), true),
		redirected("2>&1", true), redirected("2>/dev/null", true), redirected(">/dev/null", false),
		redirected("&>/dev/null", false), redirected("3>&1", false), redirected(">>/tmp/log", false), redirected("2>>/tmp/log", false),
		{name: "redirection in front", apply: func(r *rand.Rand, script string) (string, bool) {
			_, ok := simple(script)
			return []string{">/dev/null ", "2>/dev/null ", "&>/tmp/log ", ">&2 ", "2>&1 "}[r.IntN(5)] + script, ok && noStreams(script)
		}},
		{name: "assignment in front", benign: true, apply: func(r *rand.Rand, script string) (string, bool) {
			_, ok := simple(script)
			return []string{"A= ", "CI=1 ", "DEBUG='a b' ", "X=$(date) "}[r.IntN(4)] + script, ok
		}},
		{name: "blanks between fields", apply: func(r *rand.Rand, script string) (string, bool) {
			if _, ok := simple(script); !ok || strings.Trim(script, plainLetters+" ") != "" {
				return "", false
			}
			return strings.ReplaceAll(script, " ", []string{"${IFS}", "$IFS$9", "${IFS%??}", "${IFS:0:1}", "$IFS"}[r.IntN(2)]), strings.Contains(script, " ")
		}},
		{name: "words in braces", apply: func(_ *rand.Rand, script string) (string, bool) {
			if _, ok := simple(script); !ok || strings.Trim(script, plainLetters+" ") != "" || strings.Contains(script, ",") {
				return "", false
			}
			return "{" + strings.Join(strings.Fields(script), ",") + "}", strings.Contains(script, " ")
		}},
		whole("words as parameters", func(words string) string { return "set -- " + words + "; \"$@\"" }),
		whole("words as an array", func(words string) string { return "x=(" + words + "); \"${x[@]}\"" }),
		whole("words as a string", func(words string) string { return "x=" + quoted(words) + "; $x" }),
		whole("words given to eval", func(words string) string { return "eval " + words }),
		whole("words given to xargs", func(words string) string { return "echo " + words + " | xargs env" }),
		whole("last words given to xargs", func(words string) string {
			fields := strings.Fields(words)
			print := "echo "
			if len(fields) > 1 && fields[1][0] == '-' { // echo would take it for its own
				print = "printf '%s\\n' "
			}
			return print + strings.Join(fields[1:], " ") + " | xargs " + fields[0]
		}),
		whole("words from a function", func(words string) string { return "f() { \"$@\"; }; f " + words }),
		whole("words from a shell function", func(words string) string { return "f() { $1 ${@:2}; }; f " + words }),
		{name: "padding in front", apply: func(_ *rand.Rand, script string) (string, bool) { return ": " + padding + "; " + script, true }},
		{name: "padding behind", apply: func(_ *rand.Rand, script string) (string, bool) {
			return script + " # " + padding, !strings.HasSuffix(script, "\n") && !hasDocument(script)
		}},
		{name: "padding in a list", apply: func(_ *rand.Rand, script string) (string, bool) {
			return strings.Repeat("echo ok\n", 200) + script + "\n" + strings.Repeat("true\n", 50), !strings.Contains(script, "#!")
		}},
		{name: "bidirectional comment", apply: func(_ *rand.Rand, script string) (string, bool) {
			return script + " # \u202etxet\u202c\u2066", !strings.HasSuffix(script, "\n") && !hasDocument(script)
		}},
	}
	return append(out, unicodeSpellings()...)
}

// whole makes re-spellings of a simple command whose words are plain.
func whole(name string, spell func(words string) string) respelling {
	return respelling{name: name, apply: func(_ *rand.Rand, script string) (string, bool) {
		if _, ok := simple(script); !ok || strings.Trim(script, plainLetters+" ") != "" {
			return "", false
		}
		return spell(script), strings.Contains(script, " ")
	}}
}

// unicodeSpellings write the program's name with letters that only look like it, or with letters that show nothing. No
// system runs the program under such a name; whoever writes it so means to deceive a reader or copied it from a page that
// did. So it must not pass, and nothing more is asked of it. In other words of the command such letters name other
// things, and nothing is asked at all.
func unicodeSpellings() []respelling {
	name := func(title string, spell func(r *rand.Rand, w string) string) respelling {
		return respelling{name: title, weak: true, apply: func(r *rand.Rand, script string) (string, bool) {
			call, ok := simple(script)
			if !ok || strings.Trim(call.Args[0].Lit(), "abcdefghijklmnopqrstuvwxyz") != "" {
				return "", false
			}
			at, end := int(call.Args[0].Pos().Offset()), int(call.Args[0].End().Offset())
			return script[:at] + spell(r, script[at:end]) + script[end:], script[at:end] == call.Args[0].Lit()
		}}
	}
	return []respelling{
		name("full-width letters", func(_ *rand.Rand, w string) string {
			return strings.Map(func(c rune) rune { return c - 'a' + '\uff41' }, w)
		}),
		name("invisible letter", func(r *rand.Rand, w string) string {
			at := r.IntN(len(w) + 1)
			return w[:at] + []string{"\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u202e"}[r.IntN(6)] + w[at:]
		}),
		name("look-alike", func(_ *rand.Rand, w string) string {
			return strings.NewReplacer("a", "а", "c", "с", "e", "е", "o", "о", "p", "р", "x", "х", "s", "ѕ", "i", "і", "d", "ԁ",
				"h", "һ", "r", "г", "m", "м", "k", "к", "t", "т").Replace(w)
		}),
		{name: "unbreakable blank", weak: true, apply: func(_ *rand.Rand, script string) (string, bool) {
			_, ok := simple(script)
			return strings.ReplaceAll(script, " ", "\u00a0"), ok && strings.Contains(script, " ") && strings.Trim(script, plainLetters+" ") == ""
		}},
	}
}
