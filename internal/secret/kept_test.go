package secret

import (
	"strings"
	"testing"
)

// TestWhereSecretsAreKept: credentials are found in headers, settings, documents and statements, whole and nothing beside them; what stands
// there and is none is let be.
func TestWhereSecretsAreKept(t *testing.T) {
	for _, test := range []struct{ text, found string }{
		{"Cookie: theme=dark; sessionid=abcdefghijklmnop; lang=en", "abcdefghijklmnop"},
		{"GET / HTTP/1.1\r\ncookie: _ga=GA1.2.3; connect.sid=s%3Aabc.def12345\r\nAccept: */*", "s%3Aabc.def12345"},
		{"Set-Cookie: SID=31d4d96e407aad42; Path=/; HttpOnly", "31d4d96e407aad42"},
		{`{"set-cookie": ["auth=31d4d96e407aad42; Path=/"]}`, "31d4d96e407aad42"},
		{`document.cookie = "csrftoken=u32t4o3tb3gq43"`, "u32t4o3tb3gq43"},
		{"curl -b 'JSESSIONID=ABCDEF0123456789ABCDEF0123456789' https://x.example", "ABCDEF0123456789ABCDEF0123456789"},
		{"curl --cookie sid=u32t4o3tb3gq43 https://x.example", "u32t4o3tb3gq43"},
		{"Mcp-Session-Id: 9f86d081-884c-4d65-9a2f-eaa0c55ad015", "9f86d081-884c-4d65-9a2f-eaa0c55ad015"},
		{"curl -H 'X-Session-Token: 9f86d081884c7d659a2f' https://x.example", "9f86d081884c7d659a2f"},
		{"Authorization: Token 9f86d081884c7d659a2feaa0", "9f86d081884c7d659a2feaa0"},
		{"  authorization: 9f86d081884c7d659a2feaa0", "9f86d081884c7d659a2feaa0"},
		{`curl -H "Api-Token: Sk94HG7f6KB" https://x.example`, "Sk94HG7f6KB"},
		{"db.firm.com:5432:shop:ann:Tr0ub4dor3x", "Tr0ub4dor3x"},
		{"ann:{SSHA}VBPuJHI7uixaa6LQGx4s+5GKNEVBPuJHI7ui", "{SSHA}VBPuJHI7uixaa6LQGx4s+5GKNEVBPuJHI7ui"},
		{"ann:rOyX4a8pQz.1k", "rOyX4a8pQz.1k"},
		{"(1, 'ann', '$2y$10$abcdefghijklmnopqrstuuN4c2kXJYq7H8sT6Lw0vZbGdEfRiOm')",
			"$2y$10$abcdefghijklmnopqrstuuN4c2kXJYq7H8sT6Lw0vZbGdEfRiOm"},
		{"INSERT INTO `shop` (`id`, `name`, `password`) VALUES (1, 'ann', 'sunshine'),\n(2,'bob','rainbow')", "sunshine"},
		{"insert into users values (7,'ann','9f86d081884c7d659a2feaa0c55ad015')", "9f86d081884c7d659a2feaa0c55ad015"},
		{"<server><User>ann</User><Pass>sunshine</Pass></server>", "sunshine"},
		{"# settings\nDB_PASSWORD=sunshine\nDB_HOST=x", "sunshine"},
		{"export MAIL_PASSWORD=sunshine", "sunshine"},
		{"define('AUTH_KEY', 'put9r$>kj`~hWLu*F.#T4)cV_2Jd+e!8mQ;sXz:N1');", "put9r$>kj`~hWLu*F.#T4)cV_2Jd+e!8mQ;sXz:N1"},
		{`password = "m{{h}o)p${e]nob9"`, "m{{h}o)p${e]nob9"},
		{`conn.login('ann@firm.com', 'Tr0ub4dor3x', done)`, "Tr0ub4dor3x"},
		{`if password == "q4c1a2oPd" {`, "q4c1a2oPd"},
		{"token: uUeCTfcpCEkqHZmkUibcCZhi", "uUeCTfcpCEkqHZmkUibcCZhi"},
		{"Licence key: ZAQWS-XCDFR-VBGTR-FRTGB-KLMNX", "ZAQWS-XCDFR-VBGTR-FRTGB-KLMNX"},
		{"https://x.example/api/token/OTI2NjA3NjU1NTI2Oh2DOnASdOHoIhEG", "OTI2NjA3NjU1NTI2Oh2DOnASdOHoIhEG"},
		{"Key: []byte{233, 9, 100, 114, 245, 164, 134, 217, 225, 26, 0, 172, 39}", "{233, 9, 100, 114, 245, 164, 134, 217, 225, 26, 0, 172, 39}"},
		{"apiVersion: v1\nkind: Secret\ndata:\n  username: YWRtaW5pcw==\n  extra: YWRtaW46VHIwdWI0\nmetadata:\n  name: x", "YWRtaW46VHIwdWI0"},
		{`{"kind":"Secret","data":{"extra":"YWRtaW46VHIwdWI0"}}`, "YWRtaW46VHIwdWI0"},
		{`{"kty":"EC","d":"slaQyyHQPudOpq2mbDsknm4rOu9IMkLGjINAFWwfqr-"}`, "slaQyyHQPudOpq2mbDsknm4rOu9IMkLGjINAFWwfqr-"},
		{`{"encryptedPassword":"MDIEEPgAAAAAAAAAAAAAAAAAAAEwFAYIKoZIhvcNAwcECJbyBJrWVlVYBAhjrR1"}`,
			"MDIEEPgAAAAAAAAAAAAAAAAAAAEwFAYIKoZIhvcNAwcECJbyBJrWVlVYBAhjrR1"},
	} {
		got := Find(test.text)
		if len(got) == 0 || test.text[got[0].Start:got[0].End] != test.found {
			t.Errorf("%q: %+v", test.text, got)
		}
	}
	for _, text := range []string{
		"Cookie: a small text that a browser keeps", "Cookie: theme=dark; lang=en-US", "Set-Cookie: <cookie-name>=<cookie-value>",
		"Set-Cookie: id=; Max-Age=0", "cookies = load(path)", "curl -b cookies.txt https://x.example", "const cookieName = \"consent=granted\"",
		"Session-Id: string", "session_id: 9f86d081-884c-4d65-9a2f-eaa0c55ad015", "Copilot-Session: 9f86d081-884c-4d65-9a2f-eaa0c55ad015",
		"Authorization: Bearer <token>", "Authorization: required", "authorization: userMayReadTheWholeLog", "cache-key: npm-v1-build",
		"main.go:12:5:error:undefined", "12:34:56:78:90ab", "ann:abcdefghijklm", "costs $5$ or $6$", "key: [37, 38, 39, 40]",
		"INSERT INTO logs (id, message) VALUES (1, 'the password is hidden')", "INSERT INTO files VALUES (1,'9f86d081884c7d659a2feaa0c55ad015')",
		"password: required", "Password: string", "PASSWORD=${DB_PASSWORD}", "password: {{ vault_password }}", "the password=sunshine rule",
		`<label for="password">Password:</label>`, `if password == "" {`, `if password != "required" {`, "token: getTokenFromTheStore",
		"key: HOURS-THERE-OTHER-ABOUT", "https://x.example/tokens/list", "https://x.example/token/9f86d081-884c-4d65-9a2f-eaa0c55ad015",
		"kind: ConfigMap\ndata:\n  extra: YWRtaW46VHIwdWI0", `{"kty":"RSA","n":"slaQyyHQPudOpq2mbDsknm4rOu9IMkLGjINAFWwfqr-","e":"AQAB"}`,
		`{"nextPageToken":"CAUQAA9f86d081884c7d659a2f"}`, `"idempotency_key": "9f86d081-884c-4d65-9a2f-eaa0c55ad015"`,
		"continuation-token: 9f86d081884c7d659a2feaa0", `{"encryptedPassword":"AQAAABAAAAAQ2xHqMFhpVYkqSn5D6sOdWg=="}`,
	} {
		if got := Find(text); len(got) > 0 {
			t.Errorf("%q: %+v, %q", text, got, text[got[0].Start:got[0].End])
		}
	}
}

// TestEveryRowAndEntry: of what has many credentials each is found, however many statements, rows and entries there are.
func TestEveryRowAndEntry(t *testing.T) {
	for text, want := range map[string]int{
		strings.Repeat("INSERT INTO users (name, password) VALUES ('ann', 'sunshine');\n", 900):                 900,
		"INSERT INTO users (name, password) VALUES " + strings.Repeat("('ann', 'it\\'s; (sunny), ok'),\n", 900): 900,
		strings.Repeat("---\nkind: Secret\ndata:\n  a: YWRtaW46VHIwdWI0\n  b: YWRtaW46VHIwdWI0\n", 300):         600,
		strings.Repeat("Cookie: sid=u32t4o3tb3gq43\n", 300):                                                     300,
	} {
		if got := Find(text); len(got) != want {
			t.Errorf("%.60q: %d, want %d", text, len(got), want)
		}
	}
}

// TestAKeyBehindTheLinesOfALog: a private key whose every line a log has put its own beginning before is one.
func TestAKeyBehindTheLinesOfALog(t *testing.T) {
	const text = "#6 0.24 begin\n#6 0.245 -----BEGIN PRIVATE KEY-----\n#6 0.246 MIITXgIBADALBglghkgBZQMEAxMEghNKMIITRgQgD1HmdulwXADuIR7CZpjn\n" +
		"#6 0.246 YQQLBsEKL+QJ4mm5BhsEghMg0QKJZBJu8a93tNmECcVyVI3601WKlimBrior84u+\n#6 0.247 -----END PRIVATE KEY-----\n#6 0.24 end"
	got := Find(text)
	if len(got) != 1 || got[0].Kind != "private-key" || text[got[0].End:] != "\n#6 0.24 end" {
		t.Errorf("%+v", got)
	}
}
