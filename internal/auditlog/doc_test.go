package auditlog_test

import (
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"interlock"
	"interlock/internal/auditlog"
)

// The sample in the package comment is a whole log: it parses, and it verifies with the key beside it.
func TestSampleInPackageComment(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		t.Fatal(err)
	}
	comment := file.Doc.Text()
	var key, sample string
	for line := range strings.SplitSeq(comment, "\n") {
		text, indented := strings.CutPrefix(line, "\t")
		switch {
		case indented && strings.HasPrefix(text, "interlock/") && key == "":
			key = text
		case indented && (strings.HasPrefix(text, `{"checkpoint"`) || sample != "" && !strings.HasSuffix(sample, "}")):
			sample += text
		case indented && sample != "":
			t.Fatalf("unexpected line %q after the sample", text)
		}
	}
	public, err := auditlog.ParsePublicKey(key)
	if err != nil {
		t.Fatal(err)
	}
	report, err := auditlog.Verify(t.Context(), copyOf([]byte(sample+"\n"), nil), public, auditlog.VerifyOptions{})
	if err != nil || report.Problem != nil || report.Entries != 1 || report.Signed != 1 {
		t.Fatalf("the sample: %+v, %v", report, err)
	}
	// It is also what this program writes today.
	sealer := testSealer(t, 1)
	log := &memoryLog{}
	d := draft(interlock.EventMode, "seed-0001", `{"after":{"mode":"enforcing"},"before":{"mode":""}}`)
	d.Actor, d.Role, d.Trace, d.Snapshots = "interlock", "system", "", map[string]string{"ruleset": "sha256:22"}
	log.seal(t, sealer, d)
	if got := strings.TrimSuffix(string(auditlog.AppendLine(nil, log.entries[0])), "\n"); got != sample {
		t.Errorf("written now:\n%s\nsample:\n%s", got, sample)
	}
}
