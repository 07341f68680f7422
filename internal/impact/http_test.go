package impact_test

import (
	"testing"

	"interlock"
)

func TestHTTP(t *testing.T) {
	request := func(arguments string) interlock.Action { return object(interlock.KindHTTP, "", arguments) }
	checkReadings(t, []reading{
		{"get", request(`{"method":"GET","url":"https://example.com/a?b=c"}`), []string{"read external readonly https://example.com/a"}},
		{"method is GET if nothing is sent", request(`{"url":"https://example.com/"}`), []string{"read external readonly https://example.com/"}},
		{"post", request(`{"method":"POST","url":"https://example.com/a","body":"x"}`), []string{"write external window https://example.com/a +upload"}},
		{"delete", request(`{"method":"DELETE","url":"https://example.com/a?force=true&recursive=1"}`), []string{
			"delete external irreversible https://example.com/a +force +recursive"}},
		{"loopback", request(`{"method":"POST","url":"http://localhost:3000/a","body":{"a":1}}`), []string{"write workspace reversible http://localhost:3000/a"}},
		{"own endpoint", request(`{"method":"POST","url":"http://127.0.0.1:7433/v1/decide"}`), []string{"write self window http://127.0.0.1:7433/v1/decide +self"}},
		{"production", request(`{"method":"PUT","url":"https://api.prod.example.com/x"}`), []string{"write production window https://api.prod.example.com/x"}},
		{"authorization is ordinary", request(`{"method":"GET","url":"https://example.com/","headers":{"Authorization":"Bearer ghp_abcdefghijklmnopqrstuvwxyz0123456789"}}`), []string{
			"read external readonly https://example.com/"}},
		{"secret in the query", request(`{"method":"GET","url":"https://example.com/?t=ghp_abcdefghijklmnopqrstuvwxyz0123456789"}`), []string{
			"read external readonly https://example.com/", "network external irreversible https://example.com/ +secret-send +upload"}},
		{"a link with its own token", request(`{"method":"GET","url":"https://example.com/doc?token=unique_access_token_06527"}`), []string{
			"read external readonly https://example.com/doc"}},
		{"password in the authority", request(`{"method":"GET","url":"https://app:s3cretPw9@example.com/"}`), []string{
			"read external readonly https://example.com/", "credential external readonly https://example.com/ +secret"}},
		{"metadata", request(`{"method":"GET","url":"http://169.254.169.254/latest/meta-data/"}`), []string{
			"read external readonly http://169.254.169.254/latest/meta-data/ +metadata",
			"credential external readonly http://169.254.169.254/latest/meta-data/ +metadata +secret"}},
		{"metadata in decimal", request(`{"method":"GET","url":"http://2852039166/latest/"}`), []string{
			"read external readonly http://2852039166/latest/ +metadata +obfuscated",
			"credential external readonly http://2852039166/latest/ +metadata +secret"}},
		{"metadata mapped", request(`{"method":"GET","url":"http://[::ffff:a9fe:a9fe]/"}`), []string{
			"read external readonly http://[::ffff:a9fe:a9fe]/ +metadata +obfuscated",
			"credential external readonly http://[::ffff:a9fe:a9fe]/ +metadata +secret"}},
		{"loopback in octal is still loopback", request(`{"method":"GET","url":"http://0177.0.0.1/"}`), []string{"read workspace readonly http://0177.0.0.1/ +obfuscated"}},
		{"redirect to link-local", request(`{"method":"GET","url":"https://example.com/r?next=http%3A%2F%2F169.254.169.254%2F"}`), []string{
			"read external readonly https://example.com/r +injection +metadata",
			"credential external readonly https://example.com/r +metadata +secret"}},
		{"metadata elsewhere", request(`{"method":"GET","url":"http://168.63.129.16/machine"}`), []string{
			"read external readonly http://168.63.129.16/machine +metadata", "credential external readonly http://168.63.129.16/machine +metadata +secret"}},
		{"file of this machine", request(`{"url":"file:///home/dev/.ssh/id_rsa"}`), []string{
			"read home readonly /home/dev/.ssh/id_rsa +secret", "credential home readonly /home/dev/.ssh/id_rsa +secret"}},
		{"raw bytes", request(`{"url":"gopher://10.0.0.1:6379/_FLUSHALL"}`), []string{"network external irreversible gopher://10.0.0.1:6379/_FLUSHALL +injection +upload"}},
		{"an index", request(`{"method":"DELETE","url":"http://localhost:9200/_all"}`), []string{"delete workspace irreversible http://localhost:9200/_all +bulk +database"}},
		{"a document", request(`{"method":"DELETE","url":"http://localhost:9200/a/_doc/1"}`), []string{"delete workspace irreversible http://localhost:9200/a/_doc/1"}},
		{"secrets of a cluster", request(`{"url":"https://10.0.0.1:6443/api/v1/namespaces/default/secrets/db"}`), []string{
			"credential external readonly https://10.0.0.1:6443/api/v1/namespaces/default/secrets/db +secret", "read external readonly https://10.0.0.1:6443/api/v1/namespaces/default/secrets/db"}},
		{"container with the host's files", request(`{"method":"POST","url":"http://localhost:2375/v1.41/containers/create","body":{"HostConfig":{"Binds":["/:/host"]}}}`), []string{
			"privilege system window http://localhost:2375/v1.41/containers/create +root", "write workspace reversible http://localhost:2375/v1.41/containers/create"}},
		{"graph query", request(`{"method":"POST","url":"https://x.example/graphql","body":{"query":"query { users { id } }"}}`), []string{"read external readonly https://x.example/graphql"}},
		{"graph change", request(`{"method":"POST","url":"https://x.example/graphql","body":{"query":"mutation { drop }"}}`), []string{"write external window https://x.example/graphql +upload"}},
		{"no url", request(`{"method":"GET"}`), []string{"execute system irreversible +unparsable ?"}},
	})
}
