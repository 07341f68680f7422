package secret_test

import (
	"strings"
	"testing"

	"interlock/internal/secret"
)

// TestDoubtfulIsRedactedAndNotFound has what looks like a secret and in all likelihood is none: nobody is told that it is one,
// and it is taken out of what is written down all the same.
func TestDoubtfulIsRedactedAndNotFound(t *testing.T) {
	const drawn = "q8Zr2LmX0vTn5KcW7yBd3HfJ"
	for _, test := range []struct{ why, text string }{
		{"a published example key", "AIzaSyAnLA7NfeLquW1tJFpx" + "_eQCxoX-oo6YyIs"},
		{"the key of a stand-in for a service", "AccountKey=" +
			"Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="},
		{"a name that says there is none", "fakeToken := \"" + drawn + "\""},
		{"a hash by its name", "hashed_password = \"9f86d081884c7d659a2feaa0c55ad015\""},
		{"a number of something", "--client-id build-runner-4b2ad9c1"},
		{"a table's key", "primaryKey=" + drawn},
		{"a bot's token without its form", "telegram_bot_token = \"" + drawn + "\""},
		{"a key of another length", "meraki_api_key = \"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b\""},
		{"a sealed key", "AWS_SECRET_ACCESS_KEY=" + strings.Repeat("R6WCNd0erkAuZyD", 4) + "YxA=="},
		{"a signature that anybody may check", "X-Signature: " + strings.Repeat(drawn, 15)},
		{"a place in a file", "itemKey (web/src/hooks/useNavigation2.ts:225"},
		{"the word of a test", "PASS: backward-compatible"},
		{"the word of an example", "jdbc:mysql://admin:pass@db.internal/x"},
		{"plain words, encoded", "ANY_KEY = dGhlc2UgYXJlIHBsYWluIHdvcmRzIG9mIG1pbmU="},
		{"a token that is cut", "sk-ant-api03-" + drawn},
		{"numbers shorter than any workspace's", "xoxp-4711-0815-1234-9f86d081884c7d659a2feaa0"},
	} {
		if found := secret.Find(test.text); len(found) != 0 {
			t.Errorf("%s: found %v", test.why, found)
		}
		if got, kinds := secret.Redact(test.text); got == test.text || len(kinds) == 0 {
			t.Errorf("%s: it was not redacted", test.why)
		}
	}
}

// TestWhatIsNotDoubtful has the neighbours of what is: each differs in the one thing that makes the other doubtful.
func TestWhatIsNotDoubtful(t *testing.T) {
	const drawn = "q8Zr2LmX0vTn5KcW7yBd3HfJ"
	for _, text := range []string{
		"AIzaSyD3q8Zr2LmX0vTn5KcW7yBd3HfJ9pQs1Ua",
		"token := \"" + drawn + "\"",
		"db_password = \"9f86d081884c7d659a2feaa0c55ad015\"",
		"client_secret=" + drawn,
		"primaryKey=q8Zr2LmX0vTn5KcW7yBd3HfJ9pQs1UaBcD7xYe4Gh0k=",
		"telegram_bot_token = \"59200755:Aq8Zr2LmX0vTn5KcW7yBd3HfJ9pQs1UaBcD\"",
		"meraki_api_key = \"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b\"",
		"AWS_SECRET_ACCESS_KEY=q8Zr2LmX0vTn5KcW7yBd3HfJ9pQs1UaBcD7xYe4G",
		"X-Signature: " + drawn,
		"DB_PASS: correct-horse-battery-staple",
		"jdbc:mysql://admin:pa55-q8Zr2L@db.internal/x",
		"ANY_KEY = " + drawn,
		"sk-ant-api03-" + strings.Repeat(drawn, 4)[:93] + "AA",
		"xoxp-471100815123-081547110815-1234-9f86d081884c7d659a2feaa0",
		"fakeToken = \"ghp_" + drawn + "9pQs1UaBcD7x\"", // the issuer's own form, whatever the name says
	} {
		if len(secret.Find(text)) == 0 {
			t.Errorf("%s: nothing found", text)
		}
	}
}
