package quorum

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"interlock"
)

// Namespace is the SSHSIG namespace of every approval. A signature made for anything else (a git commit, a file) carries
// another namespace and can't be passed off as an approval.
const Namespace = "interlock-approval"

// statementHeader is the first line of every statement. A changed layout is a new version, never the same line.
const statementHeader = "Interlock approval, version 1"

// Statement returns the exact text an operator signs to answer req. It is ASCII, ends in a newline and binds the request
// to its action, ruleset, requester, the display the operator was shown, the single-use nonce, the expiry and, where a
// rule wants one, the dry run the operator was shown. Values the
// requester can choose are quoted, so no value can imitate a line.
func Statement(req interlock.ApprovalRequest, verdict interlock.Verdict, operator string) string {
	var b strings.Builder
	b.Grow(640)
	line := func(name, value string) {
		b.WriteString(name)
		b.WriteString(": ")
		b.WriteString(value)
		b.WriteByte('\n')
	}
	b.WriteString(statementHeader)
	b.WriteByte('\n')
	line("request", strconv.QuoteToASCII(req.ID))
	line("verdict", verdict.String())
	line("operator", strconv.QuoteToASCII(operator))
	line("action", strconv.QuoteToASCII(string(req.Action)))
	line("ruleset", strconv.QuoteToASCII(string(req.Ruleset)))
	line("principal", strconv.QuoteToASCII(req.Requester.Principal))
	line("agent", strconv.QuoteToASCII(req.Requester.Agent))
	line("run", strconv.QuoteToASCII(req.Requester.Run))
	line("display", strconv.QuoteToASCII(string(DisplayDigest(req.Display))))
	line("nonce", strconv.QuoteToASCII(req.Nonce))
	line("expires", req.Expires.UTC().Format(time.RFC3339Nano))
	if req.DryRun != "" {
		line("dry run", strconv.QuoteToASCII(req.DryRun))
	}
	return b.String()
}

// DisplayDigest is SHA-256 over the bytes of the display, so that what an approver was shown can be checked with
// sha256sum.
func DisplayDigest(display string) interlock.Digest {
	sum := sha256.Sum256([]byte(display))
	return interlock.Digest("sha256:" + hex.EncodeToString(sum[:]))
}
