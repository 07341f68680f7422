package web

import "testing"

func TestNamesSecret(t *testing.T) {
	for name, want := range map[string]bool{
		"GITHUB_TOKEN": true, "db_password": true, "AWS_SECRET_ACCESS_KEY": true, "AWS_ACCESS_KEY_ID": true, "NPM_TOKEN_2": true,
		"GOOGLE_CREDENTIALS": true, "SLACK_TOKENS": true, "CLIENT_SECRET": true,
		"ACTIONS_ID_TOKEN_REQUEST_TOKEN": true, "ACTIONS_ID_TOKEN_REQUEST_URL": false, "TOKEN_ENDPOINT": false, "SECRET_NAME": false,
		"PASSWORD_FILE": false, "GOOGLE_CREDENTIALS_PATH": false, "TOKEN_TTL": false, "SECRET_ARN": false, "MAX_TOKENS": false,
		"TOKENIZERS_PARALLELISM": false, "HOME": false,
	} {
		if got := NamesSecret(name); got != want {
			t.Errorf("NamesSecret(%q) = %v, want %v", name, got, want)
		}
	}
}
