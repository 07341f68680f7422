package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"interlock/test/product"
)

// sameWord are types of the vocabulary that are a part or a form of a word of the glossary.
var sameWord = map[string]string{
	"AgentRecord": "agent", "Annotations": "annotation", "ApprovalRequest": "request", "ChallengeKind": "challenge", "Condition": "rule",
	"DangerRule": "danger", "DryRun": "dry run", "EventType": "event", "ImpactKind": "impact", "Kind": "action",
	"OperatorRecord": "operator", "OutcomeStatus": "outcome", "PastAction": "run", "PinReason": "pin", "PinStatus": "pin",
	"RequestStatus": "request", "SignalKind": "signal", "Taken": "limit", "Measured": "limit",
	"RunLink": "run", "RunOutput": "run", "RunStatus": "run", "RunRequest": "run", "RunEnd": "run", "RunBasis": "run",
	"RunHolder": "run", "RunReview": "run",
	"FirstUse": "request", "Range": "grant", "MessageStatus": "message", "MessageRequest": "message", "MessageAnswer": "message",
	"StepAttestation": "attestation",
	"Messages":        "message", "Violation": "message",
	"Plans": "plan", "PlanRequest": "plan", "PlannedStep": "plan", "PlanStatus": "plan", "PlanRemark": "plan", "StepView": "plan",
	"Runs": "run", "RunCheckpoint": "run", "RunConstraint": "run", "RunConstraintKind": "run", "RunKept": "run", "Checkpoints": "run",
	"JudgeSubject": "judge", "JudgeQuestion": "judge", "Judgment": "judge", "JudgeFailure": "judge", "JudgeIdentity": "judge",
	"ActionRequest": "request", "ActionStatus": "request", "GovernedAction": "request", "Elector": "ballot", "CouncilTerms": "council",
	"SettledBy": "settled", "Settlement": "settled",
	"ModulePolicy": "module", "ModuleBudget": "module", "Registration": "module", "Widening": "module",
	"Classified": "classification", "TextSpan": "classification",
}

// forPrograms are types that only programs in Go meet.
var forPrograms = []string{"Backend", "Config", "Count", "Error", "Failures", "Upstream"}

// glossary returns the words of the glossary with their sentences, in order.
func glossary(t *testing.T) (words []string, sentences map[string]string) {
	t.Helper()
	text, err := os.ReadFile(root + "/docs/reference/glossary.md")
	if err != nil {
		t.Fatal(err)
	}
	sentences = map[string]string{}
	for _, part := range strings.Split(string(text), "\n## ")[1:] {
		word, sentence, _ := strings.Cut(part, "\n")
		words = append(words, word)
		sentences[word] = strings.TrimSpace(sentence)
	}
	return words, sentences
}

// TestGlossaryHasTheVocabulary: every type of the root package is a word of the glossary, a form of one, or for programs only; and what
// a verdict, a mode, a reach, a level of trust or of danger can be stands there.
func TestGlossaryHasTheVocabulary(t *testing.T) {
	words, sentences := glossary(t)
	files, err := filepath.Glob(root + "/*.go")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	all := strings.Join(words, " ")
	for _, sentence := range sentences {
		all += " " + strings.ToLower(sentence)
	}
	values := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		source, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, declared := range source.Decls {
			general, ok := declared.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range general.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					name := s.Name.Name
					word := strings.ToLower(name)
					if other, ok := sameWord[name]; ok {
						word = other
					}
					if s.Name.IsExported() && !slices.Contains(forPrograms, name) && sentences[word] == "" {
						t.Errorf("%s: %s is no word of the glossary", filepath.Base(file), name)
					}
				case *ast.ValueSpec:
					kind, ok := s.Type.(*ast.Ident)
					if !ok || !slices.Contains([]string{"Reach", "Reversibility", "Confidence", "OutcomeStatus"}, kind.Name) || len(s.Values) != 1 {
						continue
					}
					value := strings.Trim(s.Values[0].(*ast.BasicLit).Value, `"`)
					if values++; !strings.Contains(all, value) {
						t.Errorf("%s: the glossary does not name %s", filepath.Base(file), value)
					}
				}
			}
		}
	}
	if values < 10 {
		t.Errorf("only %d values were looked for", values)
	}
}

// TestGlossaryIsPlain: the words are sorted, each has one sentence, and each is used on another page.
func TestGlossaryIsPlain(t *testing.T) {
	words, sentences := glossary(t)
	if !slices.IsSorted(words) || len(words) < 60 {
		t.Errorf("the words are not sorted, or too few: %q", words)
	}
	var others strings.Builder
	for _, p := range markdown(t) {
		if p != "docs/reference/glossary.md" {
			text, err := os.ReadFile(filepath.Join(root, p))
			if err != nil {
				t.Fatal(err)
			}
			others.Write(text)
		}
	}
	for _, word := range words {
		sentence := sentences[word]
		if !strings.HasSuffix(sentence, ".") || strings.Count(sentence, ". ") > 0 || len(strings.Fields(sentence)) > 30 {
			t.Errorf("%s: one plain sentence: %q", word, sentence)
		}
		if !regexp.MustCompile(`(?i)\b` + word).MatchString(others.String()) {
			t.Errorf("%s is used on no other page", word)
		}
	}
}

// markdown returns the names of all pages of the documentation, from the repository's root.
func markdown(t *testing.T) (names []string) {
	t.Helper()
	names = append(names, "README.md")
	err := filepath.WalkDir(root+"/docs", func(file string, entry fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(file) == ".md" {
			name, _ := filepath.Rel(root, file)
			names = append(names, filepath.ToSlash(name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

var quoted = regexp.MustCompile("``[^`].*?``|`[^`]+`")

// TestSymptomsAreSaid: every message on the page of symptoms stands in a source of the program, part by part.
func TestSymptomsAreSaid(t *testing.T) {
	text, err := os.ReadFile(root + "/docs/how-to/symptoms.md")
	if err != nil {
		t.Fatal(err)
	}
	said := sources(t)
	rows := 0
	for _, line := range strings.Split(string(text), "\n") {
		first, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		rows++
		message := strings.TrimSpace(strings.Trim(quoted.FindString(first), "`"))
		for _, part := range strings.Split(message, "…") {
			if rule := hookRule.FindStringSubmatch(part); rule != nil { // the first half stands in one place for all of them
				part = `"` + rule[1] + `"`
			}
			if part = strings.Trim(part, " `:;()"); part != "" && part != "ASK" && !strings.Contains(said, part) {
				t.Errorf("nothing says %q, of %q", part, message)
			}
		}
	}
	if rows < 40 {
		t.Errorf("only %d messages were found", rows)
	}
}

var hookRule = regexp.MustCompile(`^\[hook\.([a-z]+)\]$`)

var joined = regexp.MustCompile(`"\s*\+\s*"`)

// sources are the texts of the program's own files, with strings that are written over several lines put together.
func sources(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, dir := range []string{"cmd", "internal", "embedded"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(file string, entry fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(file) != ".go" && filepath.Ext(file) != ".sql" || strings.HasSuffix(file, "_test.go") {
				return err
			}
			text, err := os.ReadFile(file)
			all.Write(joined.ReplaceAll(text, nil))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all.String()
}

// TestTheFirstScreenIsTrue: what the README says is stopped, asked about and let pass, is.
func TestTheFirstScreenIsTrue(t *testing.T) {
	text, err := os.ReadFile(root + "/README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| it stops |")
	table, _, _ = strings.Cut(table, "\n\n")
	_, _, env := person(t)
	judged := 0
	for _, row := range strings.Split(table, "\n")[2:] {
		for i, command := range quoted.FindAllString(row, -1) {
			want := []int{20, 10, 0}[i]
			check := exec.Command(product.Interlock(), "check", "--", strings.Trim(command, "`"))
			check.Env = env
			said, err := check.CombinedOutput()
			if check.ProcessState == nil || check.ProcessState.ExitCode() != want {
				t.Errorf("%s: want status %d, %v: %s", command, want, err, said)
			}
			judged++
		}
	}
	if judged != 12 {
		t.Errorf("%d commands stand on the first screen", judged)
	}
}
