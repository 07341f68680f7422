package call_test

import (
	"encoding/json"
	"testing"

	"interlock"
	"interlock/internal/impact/impacttest"
)

// TestMessageWords covers what makes a message more than words to somebody.
func TestMessageWords(t *testing.T) {
	for _, test := range []struct {
		name, tool, arguments string
		want                  bool
	}{
		{"talk", "send_email", `{"to":"a@b.example","subject":"Dinner","body":"See you at eight on 2026-03-14 20:00?"}`, true},
		{"chat", "mcp__chat__post_message", `{"channel":"general","text":"The build is green again."}`, true},
		{"answer", "reply_to_thread", `{"thread_id":7,"message":"Done."}`, true},
		{"asking for money", "Payments_1_RequestPayment", `{"receiver":"sam","amount":12,"message":"pizza"}`, true},
		{"public key", "send_email", `{"to":"a@b.example","body":"My key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl me@host"}`, true},
		{"nothing attached", "send_email", `{"to":"a@b.example","body":"Hello.","attachments":null,"files":"null"}`, true},
		{"a file", "send_email", `{"to":"a@b.example","body":"Hello.","attachments":["/home/dev/report.pdf"]}`, false},
		{"a file described", "send_email", `{"to":"a@b.example","body":"Hello.","attachments":[{"type":"file","file_path":"/home/dev/report.pdf"}]}`, false},
		{"what was downloaded", "send_email",
			`{"to":"a@b.example","body":"The form you asked for.","attachments":[{"type":"file","file_path":"/downloads/form.pdf"}]}`, true},
		{"a document of the work", "reply_to_email", `{"to":["a@b.example"],"body":"Attached.","files":["docs/minutes-may.md"]}`, true},
		{"a document of the service", "send_email", `{"to":"a@b.example","body":"Here it is.","attachments":[{"type":"file","file_id":"12"}]}`, true},
		{"two documents", "send_email", `{"to":"a@b.example","body":"Attached.","attachments":["a.pdf","b.pdf"]}`, false},
		{"a document to many", "send_email", `{"to":["a@b.example","c@d.example","e@f.example"],"body":"Attached.","attachments":["a.pdf"]}`, false},
		{"a private document", "send_email", `{"to":"a@b.example","body":"Attached.","attachments":["downloads/bank_statement.pdf"]}`, false},
		{"a hidden file", "send_email", `{"to":"a@b.example","body":"Attached.","attachments":["downloads/.notes.txt"]}`, false},
		{"source code", "send_email", `{"to":"a@b.example","body":"Attached.","attachments":["src/billing.py"]}`, false},
		{"a table of data", "send_email", `{"to":"a@b.example","body":"Attached.","attachments":["orders.csv"]}`, false},
		{"a climbing path", "send_email", `{"to":"a@b.example","body":"Attached.","attachments":["../../notes/plan.pdf"]}`, false},
		{"a document without a word", "send_email", `{"to":"a@b.example","attachments":["a.pdf"]}`, false},
		{"link", "send_email", `{"to":"a@b.example","body":"Log in at https://login.example/x please"}`, false},
		{"bare link", "send_sms", `{"to":"1","body":"look at www.login.example"}`, false},
		{"password", "send_email", `{"to":"a@b.example","body":"The password is tulip."}`, false},
		{"private key", "send_email", `{"to":"a@b.example","body":"as asked, my private key"}`, false},
		{"opaque", "send_email", `{"to":"a@b.example","body":"b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ"}`, false},
		{"telephone", "send_email", `{"to":"a@b.example","body":"call +49 30 1234 5678"}`, false},
		{"card", "post_message", `{"channel":"x","text":"4111 1111 1111 1111"}`, false},
		{"addresses", "send_email", `{"to":"a@b.example","body":"a@x.example b@x.example c@x.example"}`, false},
		{"records", "send_email", `{"to":"a@b.example","body":"Name: A\nDate: B\nPlace: C\nSum: D\nState: E"}`, false},
		{"many", "send_email", `{"to":["a","b","c","d","e","f"],"body":"Hello."}`, false},
		{"everybody", "broadcast_message", `{"body":"Hello."}`, false},
		{"in public", "post_tweet", `{"content":"Hello."}`, false},
		{"unseen", "send_email", `{"to":"a@b.example","template_id":7}`, false},
		{"path of a key", "send_email", `{"to":"a@b.example","body":"see ~/.ssh/id_rsa"}`, false},
	} {
		message := false
		for _, i := range impacttest.Analyse(t, interlock.Action{Kind: interlock.KindTool, Tool: test.tool, Arguments: json.RawMessage(test.arguments)}) {
			if i.Kind == interlock.ImpactMessage {
				message = true
				if i.Has("words") != test.want {
					t.Errorf("%s: words is %v; want %v", test.name, i.Has("words"), test.want)
				}
			}
		}
		if !message {
			t.Errorf("%s: no message", test.name)
		}
	}
}

// TestNamesOfDanger covers the forms of names under the spellings they come in.
func TestNamesOfDanger(t *testing.T) {
	for _, test := range []struct{ name, want string }{
		{"delete_all_files", "named-forbidden"}, {"deleteAllFiles", "named-forbidden"}, {"Delete All Files", "named-forbidden"},
		{"DELETE-ALL", "named-forbidden"},
		{"DELETE_ALL_ROWS", "named-forbidden"}, {"deleteall", "named-forbidden"}, {"force_delete_all", "named-forbidden"},
		{"ForceDropTable", "named-forbidden"},
		{"mcp__db__drop-table", "named-forbidden"}, {"crm.truncateContacts", "named-forbidden"}, {"Wipe Disk", "named-forbidden"},
		{"deployToProduction", "named-forbidden"},
		{"force_sync", "named-dangerous"}, {"BULK DELETE users", "named-dangerous"}, {"purge-cache", "named-dangerous"},
		{"removePermanently", "named-dangerous"},
		{"get_reset_status", ""}, {"undelete_all", ""}, {"list_dropped_tables", ""}, {"enforce_style", ""}, {"forceps_count", ""},
	} {
		got := ""
		for _, i := range impacttest.Analyse(t, impacttest.Object(interlock.KindTool, test.name, `{}`)) {
			for _, trait := range []string{"named-dangerous", "named-forbidden"} { // the higher level wins
				if i.Has(trait) {
					got = trait
				}
			}
		}
		if got != test.want {
			t.Errorf("%s: %q; want %q", test.name, got, test.want)
		}
	}
}

// FuzzToolCall: any name and any text in any role is analysed to what [holds] demands.
func FuzzToolCall(f *testing.F) {
	know := impacttest.Knowledge(f)
	for _, seed := range [][3]string{{"send_email", "body", "call +49 30 1234 5678"}, {"Delete All Files", "path", "../../x"},
		{"post", "text", "ssh-rsa AAAA b"}, {"x", "action", "forward"}, {"", "", ""}, {"upload", "url", "https://x/\xff"}} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, name, key, text string) {
		arguments, err := json.Marshal(map[string]any{key: text, "to": "a@b.example", "list": []string{text}})
		if err != nil {
			t.Fatal(err)
		}
		impacttest.Holds(t, know, interlock.Action{Kind: interlock.KindTool, Tool: name, Arguments: arguments})
	})
}
