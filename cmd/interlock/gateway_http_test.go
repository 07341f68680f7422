package main

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// An authorityOf certificates for tests.
type authorityOf struct {
	t           *testing.T
	key         *ecdsa.PrivateKey
	certificate *x509.Certificate
}

func newAuthorityOf(t *testing.T, name string) *authorityOf {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &authorityOf{t, key, certificate}
}

// issue makes a certificate for a name, with its key, both in PEM form.
func (a *authorityOf) issue(name string) (certificate, key []byte) {
	a.t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, private.Public(), a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	text, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		a.t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: text})
}

// pair is a certificate for a name with its key.
func (a *authorityOf) pair(name string) *tls.Certificate {
	a.t.Helper()
	pair, err := tls.X509KeyPair(a.issue(name))
	if err != nil {
		a.t.Fatal(err)
	}
	return &pair
}

// tokensOf serves an authorization server's keys and signs tokens with them.
func tokensOf(t *testing.T) (address string, token func(audience string) string) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: public, KeyID: "k"}}})
	}))
	t.Cleanup(server.Close)
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: private}, (&jose.SignerOptions{}).WithHeader("kid", "k"))
	if err != nil {
		t.Fatal(err)
	}
	return server.URL, func(audience string) string {
		text, err := jwt.Signed(signer).Claims(map[string]any{"iss": server.URL, "aud": audience, "exp": time.Now().Add(time.Hour).Unix(),
			"sub": "anna", "client_id": "reporter"}).Serialize()
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
}

// TestGatewayCredentials proves each kind of credential an agent may show, through TLS, and that the record names who it was.
func TestGatewayCredentials(t *testing.T) {
	home := t.TempDir()
	ours, theirs := newAuthorityOf(t, "ours"), newAuthorityOf(t, "theirs")
	issuer, token := tokensOf(t)
	certificate, key := ours.issue("gateway")
	root := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ours.certificate.Raw})
	settings := fmt.Sprintf("gateway:\n  auth:\n    issuers:\n    - {name: corp, issuer: %q, jwks: %q, audience: [gateway]}\n"+
		"  tls: {cert: %q, key: %q, client_ca: %q, client: optional, client_name: cn}\n",
		issuer, issuer, filepath.Join(home, "cert.pem"), filepath.Join(home, "key.pem"), filepath.Join(home, "ca.pem"))
	for name, text := range map[string][]byte{"interlock.yaml": []byte(settings), "cert.pem": certificate, "key.pem": key, "ca.pem": root} {
		if err := os.WriteFile(filepath.Join(home, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) string {
		t.Helper()
		command := exec.Command("interlock", args...)
		command.Env = append(os.Environ(), "INTERLOCK_HOME="+home)
		out, err := command.Output()
		if err != nil {
			t.Fatalf("interlock %v: %v", args, err)
		}
		return strings.TrimSpace(string(out))
	}
	signs := governed(t, home)
	own := run("agent", "add", "reporter", "--key", signs)
	endpoint, stop := startGateway(t, home)
	roots := x509.NewCertPool()
	roots.AddCert(ours.certificate)
	call := func(shown *tls.Certificate, bearer string) (int, string) {
		t.Helper()
		secure := &tls.Config{RootCAs: roots}
		if shown != nil { // also to a server that asks for others'
			secure.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return shown, nil }
		}
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: secure}}
		defer client.CloseIdleConnections()
		request, err := http.NewRequest(http.MethodPost, endpoint,
			strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"notes.read_note","arguments":{},`+
				`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{"Content-Type": "application/json", "MCP-Protocol-Version": "2026-07-28",
			"Mcp-Method": "tools/call", "Mcp-Name": "notes.read_note"} {
			request.Header.Set(name, value)
		}
		if bearer != "" {
			request.Header.Set("Authorization", "Bearer "+bearer)
		}
		response, err := client.Do(request)
		if err != nil {
			return 0, err.Error()
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(text)
	}
	for name, test := range map[string]struct {
		shown  *tls.Certificate
		bearer string
		status int
	}{
		"nothing":                         {nil, "", http.StatusUnauthorized},
		"a token of our own":              {nil, own, http.StatusOK},
		"a token of the issuer":           {nil, token("gateway"), http.StatusOK},
		"a token for another audience":    {nil, token("elsewhere"), http.StatusUnauthorized},
		"a certificate":                   {ours.pair("robot"), "", http.StatusOK},
		"a certificate and a wrong token": {ours.pair("robot"), "ilk_wrong", http.StatusUnauthorized},
		"a certificate of others":         {theirs.pair("robot"), "", 0},
	} {
		status, text := call(test.shown, test.bearer)
		if status != test.status || status == http.StatusOK && !strings.Contains(text, "read_note map[]") {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
	run("agent", "add", "--no-token", "--principal", "olga", "corp:reporter", "--key", signs)
	if status, text := call(nil, token("gateway")); status != http.StatusOK {
		t.Errorf("an agent of the issuer that is registered: %d %s", status, text)
	}
	run("agent", "revoke", "corp:reporter", "--key", signs)
	for status := 0; status != http.StatusUnauthorized; { // the door learns of it within some milliseconds; the decision knows at once
		var text string
		if status, text = call(nil, token("gateway")); !strings.Contains(text, "revoked") {
			t.Fatalf("an agent of the issuer that is revoked: %d %s", status, text)
		}
	}
	stop()
	log := run("audit", "export")
	for _, agent := range []string{`"agent":"reporter"`, `"agent":"corp:reporter"`, `"agent":"tls:robot"`} {
		if !strings.Contains(log, agent) {
			t.Errorf("the log has nothing of %s", agent)
		}
	}
	if strings.Contains(log, own) || regexp.MustCompile(`eyJ[\w-]+\.eyJ`).MatchString(log) {
		t.Error("the log holds a credential")
	}
}

// startGateway starts the program as a gateway before the notes server.
func startGateway(t *testing.T, home string) (endpoint string, stop func()) {
	t.Helper()
	command := exec.Command("interlock", "gateway", "--listen", "127.0.0.1:0", "--name", "notes", "--", "notes-server")
	var stderr bytes.Buffer
	command.Env, command.Stderr = append(os.Environ(), "INTERLOCK_HOME="+home), &stderr
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		_ = command.Process.Signal(os.Interrupt)
		if err := command.Wait(); err != nil {
			t.Errorf("the gateway's end: %v\n%s", err, stderr.String())
		}
		if strings.Contains(stderr.String(), "ilk_") {
			t.Errorf("a token in the gateway's log: %s", stderr.String())
		}
	}
	t.Cleanup(stop)
	lines := bufio.NewReader(stdout)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("the gateway did not start: %s", stderr.String())
		}
		if _, address, found := strings.Cut(line, "mcp     "); found {
			return strings.TrimSpace(address), stop
		}
	}
}
