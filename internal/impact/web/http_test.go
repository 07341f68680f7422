package web_test

import (
	"testing"

	"interlock"
	"interlock/internal/impact/impacttest"
)

func TestHTTP(t *testing.T) {
	request := func(arguments string) interlock.Action { return impacttest.Object(interlock.KindHTTP, "", arguments) }
	impacttest.CheckReadings(t, []impacttest.Reading{
		{Name: "get", Action: request(`{"method":"GET","url":"https://example.com/a?b=c"}`), Want: []string{"read external readonly https://example.com/a"}},
		{Name: "method is GET if nothing is sent", Action: request(`{"url":"https://example.com/"}`),
			Want: []string{"read external readonly https://example.com/"}},
		{Name: "post", Action: request(`{"method":"POST","url":"https://example.com/a","body":"x"}`),
			Want: []string{"write external window https://example.com/a +upload"}},
		{Name: "delete", Action: request(`{"method":"DELETE","url":"https://example.com/a?force=true&recursive=1"}`), Want: []string{
			"delete external irreversible https://example.com/a +force +recursive"}},
		{Name: "loopback", Action: request(`{"method":"POST","url":"http://localhost:3000/a","body":{"a":1}}`),
			Want: []string{"write workspace reversible http://localhost:3000/a"}},
		{Name: "own endpoint", Action: request(`{"method":"POST","url":"http://127.0.0.1:7433/v1/decide"}`),
			Want: []string{"write self window http://127.0.0.1:7433/v1/decide +self"}},
		{Name: "production", Action: request(`{"method":"PUT","url":"https://api.prod.example.com/x"}`),
			Want: []string{"write production window https://api.prod.example.com/x"}},
		{Name: "authorization is ordinary",
			Action: request(`{"method":"GET","url":"https://example.com/","headers":{"Authorization":"Bearer ghp_abcdefghijklmnopqrstuvwxyz0123456789"}}`), Want: []string{
				"read external readonly https://example.com/"}},
		{Name: "secret in the query", Action: request(`{"method":"GET","url":"https://example.com/?t=ghp_abcdefghijklmnopqrstuvwxyz0123456789"}`), Want: []string{
			"read external readonly https://example.com/", "network external irreversible https://example.com/ +secret-send +upload"}},
		{Name: "a link with its own token", Action: request(`{"method":"GET","url":"https://example.com/doc?token=unique_access_token_06527"}`), Want: []string{
			"read external readonly https://example.com/doc"}},
		{Name: "password in the authority", Action: request(`{"method":"GET","url":"https://app:s3cretPw9@example.com/"}`), Want: []string{
			"read external readonly https://example.com/", "credential external readonly https://example.com/ +secret"}},
		{Name: "metadata", Action: request(`{"method":"GET","url":"http://169.254.169.254/latest/meta-data/"}`), Want: []string{
			"read external readonly http://169.254.169.254/latest/meta-data/ +metadata",
			"credential external readonly http://169.254.169.254/latest/meta-data/ +metadata +secret"}},
		{Name: "metadata in decimal", Action: request(`{"method":"GET","url":"http://2852039166/latest/"}`), Want: []string{
			"read external readonly http://2852039166/latest/ +metadata +obfuscated",
			"credential external readonly http://2852039166/latest/ +metadata +secret"}},
		{Name: "metadata without a scheme", Action: request(`{"method":"GET","url":"2852039166/latest/"}`), Want: []string{
			"read external readonly 2852039166/latest/ +metadata +obfuscated",
			"credential external readonly 2852039166/latest/ +metadata +secret"}},
		{Name: "metadata mapped at length", Action: request(`{"method":"GET","url":"http://[0:0:0:0:0:ffff:a9fe:a9fe]/"}`), Want: []string{
			"read external readonly http://[0:0:0:0:0:ffff:a9fe:a9fe]/ +metadata +obfuscated",
			"credential external readonly http://[0:0:0:0:0:ffff:a9fe:a9fe]/ +metadata +secret"}},
		{Name: "metadata mapped", Action: request(`{"method":"GET","url":"http://[::ffff:a9fe:a9fe]/"}`), Want: []string{
			"read external readonly http://[::ffff:a9fe:a9fe]/ +metadata +obfuscated",
			"credential external readonly http://[::ffff:a9fe:a9fe]/ +metadata +secret"}},
		{Name: "loopback in octal is still loopback", Action: request(`{"method":"GET","url":"http://0177.0.0.1/"}`),
			Want: []string{"read workspace readonly http://0177.0.0.1/ +obfuscated"}},
		{Name: "redirect to link-local", Action: request(`{"method":"GET","url":"https://example.com/r?next=http%3A%2F%2F169.254.169.254%2F"}`), Want: []string{
			"read external readonly https://example.com/r +injection +metadata",
			"credential external readonly https://example.com/r +metadata +secret"}},
		{Name: "metadata elsewhere", Action: request(`{"method":"GET","url":"http://168.63.129.16/machine"}`), Want: []string{
			"read external readonly http://168.63.129.16/machine +metadata", "credential external readonly http://168.63.129.16/machine +metadata +secret"}},
		{Name: "file of this machine", Action: request(`{"url":"file:///home/dev/.ssh/id_rsa"}`), Want: []string{
			"read home readonly /home/dev/.ssh/id_rsa +secret", "credential home readonly /home/dev/.ssh/id_rsa +secret"}},
		{Name: "raw bytes", Action: request(`{"url":"gopher://10.0.0.1:6379/_FLUSHALL"}`),
			Want: []string{"network external irreversible gopher://10.0.0.1:6379/_FLUSHALL +injection +upload"}},
		{Name: "an index", Action: request(`{"method":"DELETE","url":"http://localhost:9200/_all"}`),
			Want: []string{"delete workspace irreversible http://localhost:9200/_all +bulk +database"}},
		{Name: "a document", Action: request(`{"method":"DELETE","url":"http://localhost:9200/a/_doc/1"}`),
			Want: []string{"delete workspace irreversible http://localhost:9200/a/_doc/1"}},
		{Name: "secrets of a cluster", Action: request(`{"url":"https://10.0.0.1:6443/api/v1/namespaces/default/secrets/db"}`), Want: []string{
			"credential external readonly https://10.0.0.1:6443/api/v1/namespaces/default/secrets/db +secret",
			"read external readonly https://10.0.0.1:6443/api/v1/namespaces/default/secrets/db"}},
		{Name: "container with the host's files",
			Action: request(`{"method":"POST","url":"http://localhost:2375/v1.41/containers/create","body":{"HostConfig":{"Binds":["/:/host"]}}}`), Want: []string{
				"privilege system window http://localhost:2375/v1.41/containers/create +root",
				"write workspace reversible http://localhost:2375/v1.41/containers/create"}},
		{Name: "graph query", Action: request(`{"method":"POST","url":"https://x.example/graphql","body":{"query":"query { users { id } }"}}`), Want: []string{"read external readonly https://x.example/graphql"}},
		{Name: "graph change", Action: request(`{"method":"POST","url":"https://x.example/graphql","body":{"query":"mutation { drop }"}}`), Want: []string{"write external window https://x.example/graphql +upload"}},
		{Name: "no url", Action: request(`{"method":"GET"}`), Want: []string{"execute system irreversible +unparsable ?"}},
	})
}
