package secret_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/secret"
)

// The secrets here are made up; they only have the forms of real ones.
const fakeKey = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDndJt7NaG8T64/"

func TestRedact(t *testing.T) {
	for _, test := range []struct {
		text, want string
		kinds      []string
	}{
		{"nothing here", "nothing here", nil},
		{"id AKIAQWERTYUIOPASDFGH.", "id [redacted].", []string{"aws-key"}},
		{"token=ghp_abcdefghijklmnopqrstuvwxyz0123456789", "token=[redacted]", []string{"github-token"}},
		{"xoxb-123456789012-abcdefghijkl", "[redacted]", []string{"slack-token"}},
		{"key sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123", "key [redacted]", []string{"anthropic-key"}},
		{"-----BEGIN RSA PRIVATE KEY-----\n" + fakeKey + "\n-----END RSA PRIVATE KEY-----\nafter", "[redacted]\nafter", []string{"private-key"}},
		{"-----BEGIN PRIVATE KEY-----\n" + fakeKey, "[redacted]", []string{"private-key"}},
		{"-----BEGIN PUBLIC KEY-----\n" + fakeKey, "-----BEGIN PUBLIC KEY-----\n" + fakeKey, nil},
		{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV", "[redacted]", []string{"web-token"}},
		{"postgres://app:s3cretPw@db.example:5432/x", "postgres://app:[redacted]@db.example:5432/x", []string{"url-password"}},
		{"https://example.com:8080/@user", "https://example.com:8080/@user", nil},
		{"Authorization: Bearer a8f5f167f44f4964e6c998dee827110c", "Authorization: Bearer [redacted]", []string{"bearer-token"}},
		{`password = "hunter42!"`, `password = "[redacted]"`, []string{"password"}},
		{"mysql --password hunter42 -u x", "mysql --password [redacted] -u x", []string{"password"}},
		{"DB_PASS: tr0ub4dor", "DB_PASS: [redacted]", []string{"password"}},
		{`{"api_key": "4f8a9c2e7b1d6053aa91"}`, `{"api_key": "[redacted]"}`, []string{"assigned-secret"}},
		{"password = os.getenv('X')", "password = os.getenv('X')", nil},
		{"password: string", "password: string", nil},
		{"passed = 12345678", "passed = 12345678", nil},
		{"token = next(tokens)", "token = next(tokens)", nil},
		{"author: slayking1965", "author: slayking1965", nil},
		{"key = \"${SECRET}\"", "key = \"${SECRET}\"", nil},
		{"SG.aaaabbbbccccddddee1234..aaaabbbbccccddddeeeeffff11112222333344445", "SG.aaaabbbbccccddddee1234..aaaabbbbccccddddeeeeffff11112222333344445", nil},
		{"dapi0123456789abcdef0123456789abcdef-2", "[redacted]", []string{"databricks-token"}},
		{"dapi0123456789abcdef0123456789abcdef01", "dapi0123456789abcdef0123456789abcdef01", nil},
		{"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ.eyJzdWIiOiIxMjM0NTY3ODkwIn0.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV",
			"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ.eyJzdWIiOiIxMjM0NTY3ODkwIn0.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV", nil},
		{"mongodb://mongodb:mongodb@localhost/x", "mongodb://mongodb:mongodb@localhost/x", nil},
		{"$apiToken .= \"4f8a9c2e7b1d6053aa91\"", "$apiToken .= \"[redacted]\"", []string{"assigned-secret"}},
		{"ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", nil},
		{"clientId = \"73082700-1f09-405b-80d0-3131bfd6272d\"", "clientId = \"73082700-1f09-405b-80d0-3131bfd6272d\"", nil},
		{"monkeys:mx64-uwp-a1b2c3", "monkeys:mx64-uwp-a1b2c3", nil},
		{"?token=unique_access_token_06527", "?token=unique_access_token_06527", nil},
		{"token: jjwt-jackson-0.11.2", "token: jjwt-jackson-0.11.2", nil},
		{"BlindKey = Ed25519.BlindKeySignatures", "BlindKey = Ed25519.BlindKeySignatures", nil},
		{"sha256 a8f5f167f44f4964e6c998dee827110ca8f5f167f44f4964e6c998dee827110c",
			"sha256 a8f5f167f44f4964e6c998dee827110ca8f5f167f44f4964e6c998dee827110c", nil},
	} {
		got, kinds := secret.Redact(test.text)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%q: want(-) got(+):\n%s", test.text, diff)
		}
		if diff := cmp.Diff(test.kinds, kinds); diff != "" {
			t.Errorf("%q: kinds want(-) got(+):\n%s", test.text, diff)
		}
	}
}

// TestRedactEndsHostileText covers a text in which every redaction brings out another secret.
func TestRedactEndsHostileText(t *testing.T) {
	text := strings.Repeat("AKIAQWERTYUIOPASDFGH", 200)
	got, _ := secret.Redact(text)
	if again, kinds := secret.Redact(got); again != got || kinds != nil {
		t.Errorf("redacting again found %v", kinds)
	}
}

// FuzzRedact: what is found is suspected too, or stands in what is; suspects are in order and inside the text, redacting takes
// them all, and redacting again changes nothing.
func FuzzRedact(f *testing.F) {
	for _, seed := range []string{"", "AKIAQWERTYUIOPASDFGH",
		"ghp_abcdefghijklmnopqrstuvwxyz0123456789ghp_abcdefghijklmnopqrstuvwxyz0123456789", "password=a1b2c3d4",
		"://a:bcd@", "-----BEGIN PRIVATE KEY-----\n" + fakeKey, "Bearer a8f5f167f44f4964e6c998dee827110c", "[redacted]", "key='[redacted]x1y2z3w4v5u6'",
		"0123456789abcdef0123456789abcdef-us12", "12345678:AAabcdefghijklmnopqrstuvwxyzABCDEFGH", "pw:=\"\"\"x1y2z3\"\"\"",
		"token,(\"key\",\"a1b2c3d4e5f6a7b8\")", "\xff\xfe=passw"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		spans := secret.Suspect(text)
		for _, s := range secret.Find(text) {
			if !slices.ContainsFunc(spans, func(o secret.Span) bool { return o.Start <= s.Start && s.End <= o.End }) {
				t.Fatalf("found %+v and suspect only %+v", s, spans)
			}
		}
		end := 0
		for _, s := range spans {
			if s.Start < end || s.End <= s.Start || s.End > len(text) || s.Kind == "" {
				t.Fatalf("bad span %+v after %d in %d bytes", s, end, len(text))
			}
			end = s.End
		}
		once, kinds := secret.Redact(text)
		if (len(spans) == 0) != (once == text) || (len(spans) == 0) != (len(kinds) == 0) {
			t.Fatalf("%d spans, kinds %v, %q became %q", len(spans), kinds, text, once)
		}
		if left := secret.Suspect(once); len(left) != 0 {
			t.Fatalf("%q still holds %+v", once, left)
		}
		if twice, _ := secret.Redact(once); twice != once {
			t.Fatalf("%q became %q became %q", text, once, twice)
		}
	})
}

func BenchmarkFind(b *testing.B) {
	text := strings.Repeat("The quick brown fox, parse(args) => path/to/file; tests passed: 3 ", 3)[:198]
	b.ReportAllocs()
	for b.Loop() {
		secret.Find(text)
	}
}
