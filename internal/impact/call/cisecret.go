package call

import (
	"slices"
	"strings"

	"interlock/internal/impact/web"
	"interlock/internal/lex"
)

// sendsSecrets reports whether a line of a CI job sends one of the job's secrets somewhere in a request's address or
// body. One in a header, or one that is the address itself, is how services are used.
func sendsSecrets(text string) bool {
	named := secretVariables(text)
	staged := "" // a file that a secret was put into
	for _, block := range runBlocks(text) {
		for line := range strings.Lines(block) {
			low := strings.ToLower(line)
			if strings.Contains(low, "tojson(secrets)") || strings.Contains(low, "tojson( secrets") {
				return true
			}
			mentions := mentionsSecret(line, named)
			if sends := sendsAway(low); sends && (mentions || staged != "" && strings.Contains(line, staged)) &&
				!isHeaderUse(low) {
				return true
			}
			if mentions {
				staged = stagedIn(line, staged)
			}
		}
	}
	return false
}

// senders are what a line of a job, in a shell or in a language that a step runs, sends something somewhere with.
var senders = []string{"curl", "wget", "nc ", "ncat ", "/dev/tcp/", "nslookup", "dig ", "invoke-", "requests.",
	"urlopen(", "http.client",
	"httpx.", "fetch(", "axios", "https.request", "http.request", "net.connect", "aws s3 cp", "aws s3 mv", "aws s3api put-object",
	"gsutil cp", "gsutil mv",
	"gcloud storage cp", "az storage", "s3cmd put", "rclone copy", "mc cp", "sendmail", "mail -s"}

func sendsAway(low string) bool {
	return slices.ContainsFunc(senders, func(sign string) bool { return strings.Contains(low, sign) })
}

// stagedIn is the file that a line which mentions a secret puts it into: after a redirection or tee.
func stagedIn(line, before string) string {
	at := strings.LastIndexByte(line, '>')
	if at < 0 {
		if at = strings.LastIndex(line, "tee "); at < 0 {
			return before
		}
		at += len("tee")
	}
	words := strings.Fields(line[at+1:])
	if len(words) == 0 || strings.HasPrefix(words[0], "$GITHUB_") || strings.HasPrefix(words[0], "\"$GITHUB_") ||
		strings.HasPrefix(words[0], "/dev/") || strings.HasPrefix(words[0], "&") || len(words[0]) < 3 {
		return before
	}
	return strings.Trim(words[0], "\"'")
}

// jobOf is the text of a Jenkinsfile as jobs are written elsewhere: the commands that its steps run, and the variables it fills
// with what the service keeps.
func jobOf(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		for rest := line; ; {
			_, after, ok := strings.Cut(rest, "ariable:")
			if !ok {
				break
			}
			name, _, _ := strings.Cut(strings.TrimLeft(after, " '\""), "'")
			name, _, _ = strings.Cut(name, "\"")
			if isVariableName(name) {
				out.WriteString(name + ": ${{ secrets.X }}\n")
			}
			rest = after
		}
		if name, _, ok := strings.Cut(line, "credentials("); ok {
			name = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(name), "="))
			if name = name[strings.LastIndexAny(name, " {\t")+1:]; isVariableName(name) {
				out.WriteString(name + ": ${{ secrets.X }}\n")
			}
		}
	}
	out.WriteString("run: |\n")
	for line := range strings.Lines(text) {
		out.WriteString("  " + strings.TrimRight(line, "\r\n") + "\n")
	}
	return out.String()
}

func isHeaderUse(low string) bool {
	for _, sign := range [...]string{"authorization", "-h ", "--header", "-u ", "--user", "x-api-key", "password-stdin",
		"codecov", "bearer"} {
		if strings.Contains(low, sign) {
			return true
		}
	}
	return false
}

// secretVariables returns the variables that a CI job fills from its secrets.
func secretVariables(text string) (names []string) {
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(line, ":")
		name = strings.TrimSpace(strings.TrimLeft(name, " -"))
		if ok && isVariableName(name) &&
			(strings.Contains(value, "secrets.") || strings.Contains(value, "$(System.AccessToken)")) && !addressName(name) &&
			!addressName(value) {
			names = append(names, name)
		}
	}
	return names
}

func mentionsSecret(line string, named []string) bool {
	for rest := line; ; {
		_, after, ok := strings.Cut(rest, "secrets.")
		if !ok {
			break
		}
		name, _, _ := strings.Cut(after, "}")
		if !addressName(name) {
			return true
		}
		rest = after
	}
	if pipelineSecret(line) {
		return true
	}
	return slices.ContainsFunc(named, func(name string) bool {
		return strings.Contains(line, "$"+name) || strings.Contains(line, "${"+name) || strings.Contains(line, "$env:"+name) ||
			strings.Contains(line, "environ['"+name) || strings.Contains(line, "environ[\""+name) ||
			strings.Contains(line, "env."+name) ||
			strings.Contains(line, "getenv('"+name) || strings.Contains(line, "getenv(\""+name) ||
			strings.Contains(line, "environ.get('"+name) ||
			strings.Contains(line, "environ.get(\""+name) || strings.Contains(line, "env['"+name) ||
			strings.Contains(line, "env[\""+name)
	})
}

// pipelineSecret reports whether a line names a variable of a pipeline, as Azure fills it in before the line runs, that says of
// itself that it is a secret: $(System.AccessToken), $(mySecret), and $env:SYSTEM_ACCESSTOKEN.
func pipelineSecret(line string) bool {
	if strings.Contains(strings.ToUpper(line), "SYSTEM_ACCESSTOKEN") {
		return true
	}
	for rest := line; ; {
		_, after, ok := strings.Cut(rest, "$(")
		if !ok {
			return false
		}
		name, _, closed := strings.Cut(after, ")")
		if closed && isVariableName(strings.ReplaceAll(name, ".", "_")) &&
			web.NamesSecret(strings.Join(lex.NameWords(name), "_")) &&
			!addressName(name) {
			return true
		}
		rest = after
	}
}
