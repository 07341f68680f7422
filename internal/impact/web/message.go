package web

import (
	"slices"
	"strings"

	"interlock/internal/impact/know"
	"interlock/internal/impact/place"
	"interlock/internal/lex"
)

// An outlet is an address at which a service takes what people then read. path is a pattern of the path; told says that a request
// with anything in its body speaks there, and otherwise any request does.
type outlet struct {
	host, path string
	told       bool
}

// outlets are the addresses by which common services of mail, chat and calls are spoken to.
var outlets = []outlet{
	{"hooks.slack.com", "/*", true}, {"hooks.slack-gov.com", "/*", true},
	{"slack.com", "/api/chat.*", false}, {"slack.com", "/api/files.upload*", false},
	{"slack.com", "/api/conversations.invite*", false},
	{"api.telegram.org", "/bot*/send*", false}, {"api.telegram.org", "/bot*/forward*", false},
	{"discord.com", "/api/*webhooks/*", true}, {"discordapp.com", "/api/*webhooks/*", true},
	{"discord.com", "/api/*messages*", true},
	{"*.webhook.office.com", "/*", true}, {"outlook.office.com", "/webhook*", true}, {"graph.microsoft.com", "*/sendmail", true},
	{"graph.microsoft.com", "*/messages*", true}, {"chat.googleapis.com", "/*messages*", true},
	{"gmail.googleapis.com", "*/messages/send*", true}, {"open.feishu.cn", "/open-apis/bot/*", true},
	{"open.larksuite.com", "/open-apis/bot/*", true}, {"oapi.dingtalk.com", "/robot/send*", true},
	{"qyapi.weixin.qq.com", "/cgi-bin/*send*", true}, {"ntfy.sh", "/*", true}, {"api.pushover.net", "/*messages*", true},
	{"api.pushbullet.com", "*/pushes*", true}, {"gotify.*", "/message*", true}, {"maker.ifttt.com", "/trigger/*", false},
	{"api.twilio.com", "*/messages*", true}, {"api.twilio.com", "*/calls*", true}, {"rest.nexmo.com", "/sms*", true},
	{"api.nexmo.com", "*/messages*", true}, {"api.sendgrid.com", "*/mail/send*", true}, {"api.mailgun.net", "*/messages*", true},
	{"api.eu.mailgun.net", "*/messages*", true}, {"api.postmarkapp.com", "/email*", true}, {"api.resend.com", "/emails*", true},
	{"api.brevo.com", "*/smtp/email*", true}, {"mandrillapp.com", "*/messages/send*", true},
	{"api.sparkpost.com", "*/transmissions*", true},
	{"graph.facebook.com", "*/messages*", true}, {"graph.facebook.com", "*/feed*", true}, {"api.twitter.com", "*/tweets*", true},
	{"api.x.com", "*/tweets*", true}, {"api.line.me", "*/message/*", true}, {"api.linkedin.com", "*/ugcposts*", true},
	{"*", "/_matrix/client/*/send/m.room.message*", true},
}

// Speaks reports whether a request is one by which a service of mail, chat or calls is told something that people then read.
// told says that it carries something or changes something.
func Speaks(url string, told bool) bool {
	url = url[:min(len(url), maxLocator)]
	host := strings.ToLower(place.HostOf(url))
	path := strings.ToLower(pathOf(url))
	for _, o := range outlets {
		if (told || !o.told) && know.MatchGlob(o.host, host) && know.MatchGlob(o.path, path) {
			return true
		}
	}
	return false
}

// endingVerbs are what a body tells a service to do to something that is gone or down afterwards.
var endingVerbs = []string{"delete", "destroy", "terminate", "shutdown", "poweroff", "poweroffserver", "powercycle", "reboot",
	"rebuild", "wipe",
	"purge", "drop", "erase", "remove", "deleteall", "format", "reinstall", "rollback", "deallocate", "forcestop",
	"stop", "osstop",
	"reset", "kill", "decommission", "detach", "passwordreset", "truncate", "revoke"}

// Ends reports whether the body of a request tells a service to end something: {"type": "power_off"}, {"action":
// "destroy"}. A type or a kind says so only where the path says that actions are taken.
func Ends(url, body string) bool {
	if body == "" || len(body) > lex.MaxText || !strings.ContainsAny(body, ":=") {
		return false
	}
	acts := false
	for part := range strings.FieldsFuncSeq(strings.ToLower(pathOf(url)),
		func(c rune) bool { return c == '/' || c == '_' || c == '-' || c == ':' }) {
		acts = acts || slices.Contains([]string{"action", "actions", "operation", "operations", "batch", "bulk",
			"command", "commands",
			"execute", "invoke", "rpc", "power", "mutate", "state"}, part)
	}
	name := ""
	for word := range strings.FieldsFuncSeq(body, func(c rune) bool { return strings.ContainsRune("{}[]\",' \t\r\n:=&", c) }) {
		key := lex.Fold(name)
		said := lex.Has([]string{key}, "action", "op", "operation", "mutation", "command", "desiredstate", "verb") ||
			acts && lex.Has([]string{key}, "type", "kind", "state", "method", "event", "power")
		if said && slices.Contains(endingVerbs, lex.Fold(word)) {
			return true
		}
		name = word
	}
	return false
}
