package secret

import "strings"

// malformed reports whether a token begins as an issuer's and lacks what the issuer documents beyond an alphabet and a length:
// so it is cut, changed or made up.
//
// Two issuers put a checksum at the end of their tokens (GitHub's and npm's CRC-32). It is not looked at: what the tests of
// other people's programs hold are tokens drawn at random, and anyone who is asked to mind them means those too.
func malformed(token string) bool {
	switch {
	case strings.HasPrefix(token, "sk-ant-api03-"), strings.HasPrefix(token, "sk-ant-admin01-"):
		_, tail, _ := strings.Cut(token[len("sk-ant-"):], "-")
		return len(tail) != 95 || !strings.HasSuffix(tail, "AA")
	case strings.HasPrefix(token, "gsk_"):
		return len(token) != len("gsk_")+52
	case strings.HasPrefix(token, "sntrys_"):
		return len(token)-max(strings.LastIndexByte(token, '_'), strings.LastIndexByte(token, '='))-1 > 43
	case strings.HasPrefix(token, "xoxp-"), strings.HasPrefix(token, "xoxb-"):
		return shortNumbers(token[len("xoxp-"):])
	}
	return false
}

// shortNumbers reports a token of Slack's whose first two numbers, of a workspace and of a user, are shorter than any.
func shortNumbers(tail string) bool {
	first, rest, _ := strings.Cut(tail, "-")
	second, _, _ := strings.Cut(rest, "-")
	return only(first, digit) && only(second, digit) && len(first) < 8 && len(second) < 8
}
