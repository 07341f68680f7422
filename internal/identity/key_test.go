package identity_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"interlock"
	"interlock/internal/identity"
	"interlock/internal/quorum"
	"interlock/spec"
)

const statement = "Interlock approval, version 1\nrequest: \"req-1\"\nverdict: allow\n"

func TestNamespaceIsTheOneQuorumDocuments(t *testing.T) {
	if identity.ApprovalNamespace != quorum.Namespace {
		t.Errorf("identity signs in %q, quorum documents %q", identity.ApprovalNamespace, quorum.Namespace)
	}
}

// sshKeygen runs the real program. It comes with every OpenSSH client; without it interoperability is unproved and the
// test fails rather than pass for nothing.
func sshKeygen(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	command := exec.Command("ssh-keygen", args...)
	command.Stdin = strings.NewReader(stdin)
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("ssh-keygen %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func newKey(t *testing.T, args ...string) (path, public string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "key")
	sshKeygen(t, "", append([]string{"-q", "-N", "", "-C", "someone@example", "-f", path}, args...)...)
	text, err := os.ReadFile(path + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	return path, string(text)
}

func keyTypes() map[string][]string {
	return map[string][]string{
		"ed25519":   {"-t", "ed25519"},
		"ecdsa 256": {"-t", "ecdsa", "-b", "256"},
		"ecdsa 384": {"-t", "ecdsa", "-b", "384"},
		"ecdsa 521": {"-t", "ecdsa", "-b", "521"},
		"rsa 3072":  {"-t", "rsa", "-b", "3072"},
	}
}

func TestWhatWeSignSSHKeygenVerifiesAndTheOtherWayRound(t *testing.T) {
	for name, args := range keyTypes() {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path, public := newKey(t, args...)
			signer, err := identity.FileSigner(path, nil)
			if err != nil {
				t.Fatal(err)
			}
			signature, err := signer.SignApproval(rand.Reader, statement)
			if err != nil {
				t.Fatal(err)
			}
			fingerprint, err := identity.VerifyApproval(public, statement, signature)
			if err != nil || fingerprint != signer.PublicKey().Fingerprint() {
				t.Errorf("own verification: %q, %v", fingerprint, err)
			}
			if want := sshKeygen(t, "", "-l", "-f", path+".pub"); !strings.Contains(want, fingerprint) {
				t.Errorf("fingerprint %q is not in ssh-keygen's %q", fingerprint, want)
			}

			line, err := identity.AllowedSigner(interlock.OperatorRecord{Name: "olga", SSHKey: public})
			if err != nil {
				t.Fatal(err)
			}
			allowed, signatureFile := filepath.Join(dir, "allowed"), filepath.Join(dir, "ours.sig")
			writeFile(t, allowed, line+"\n", 0o600)
			writeFile(t, signatureFile, signature, 0o600)
			sshKeygen(t, statement, "-Y", "verify", "-f", allowed, "-I", "olga", "-n", identity.ApprovalNamespace, "-s", signatureFile)

			document := filepath.Join(dir, "statement")
			writeFile(t, document, statement, 0o600)
			sshKeygen(t, "", "-Y", "sign", "-f", path, "-n", identity.ApprovalNamespace, document)
			theirs, err := os.ReadFile(document + ".sig")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := identity.VerifyApproval(public, statement, string(theirs)); err != nil {
				t.Errorf("ssh-keygen's signature: %v", err)
			}
			if key, err := identity.SignatureKey(string(theirs)); err != nil || key.Fingerprint() != fingerprint {
				t.Errorf("the key named in the signature: %v, %v", key, err)
			}
		})
	}
}

func TestVerifyApprovalRefuses(t *testing.T) {
	path, public := newKey(t, "-t", "ed25519")
	_, otherPublic := newKey(t, "-t", "ed25519")
	signer, err := identity.FileSigner(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	good, err := signer.SignApproval(rand.Reader, statement)
	if err != nil {
		t.Fatal(err)
	}
	document := filepath.Join(t.TempDir(), "statement")
	writeFile(t, document, statement, 0o600)
	sshKeygen(t, "", "-Y", "sign", "-f", path, "-n", "git", document)
	forGit, err := os.ReadFile(document + ".sig")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, public, statement, signature string }{
		{"another statement", public, statement + " ", good},
		{"another key", otherPublic, statement, good},
		{"another namespace", public, statement, string(forGit)},
		{"no signature", public, statement, ""},
		{"garbage", public, statement, "garbage"},
		{"text before", public, statement, "hello\n" + good},
		{"text after", public, statement, good + "hello\n"},
		{"two signatures", public, statement, good + good},
		{"truncated", public, statement, good[:len(good)/2]},
		{"empty block", public, statement, "-----BEGIN SSH SIGNATURE-----\n-----END SSH SIGNATURE-----\n"},
		{"not a key", "ssh-ed25519 AAAA", statement, good},
		{"oversize", public, statement, strings.Repeat("A", 1<<20)},
	}
	for _, test := range tests {
		if fingerprint, err := identity.VerifyApproval(test.public, test.statement, test.signature); err == nil {
			t.Errorf("%s: accepted with %s", test.name, fingerprint)
		}
	}
	if _, err := identity.VerifyApproval(public, statement, "\n"+good+"\n"); err != nil {
		t.Errorf("white space around a good signature: %v", err)
	}
}

// TestSecurityKeyMustBeTouched makes the signature a FIDO key would make, with and without the user-presence flag.
func TestSecurityKeyMustBeTouched(t *testing.T) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	const application = "ssh:"
	wire := ssh.Marshal(struct {
		Type        string
		Key         []byte
		Application string
	}{ssh.KeyAlgoSKED25519, public, application})
	key, err := ssh.ParsePublicKey(wire)
	if err != nil {
		t.Fatal(err)
	}
	line := string(ssh.MarshalAuthorizedKey(key))
	for flags, want := range map[byte]bool{0x01: true, 0x05: true, 0x00: false, 0x04: false} {
		signature := securityKeySignature(t, key, private, application, flags)
		if _, err := identity.VerifyApproval(line, statement, signature); (err == nil) != want {
			t.Errorf("flags %#x: %v, want accepted=%t", flags, err, want)
		}
	}
}

// TestSecondFactor: where roles need two factors, of an SSH key only a security key counts that says it knows who has touched it; other roles
// sign as they did, and what is refused says which method to take.
func TestSecondFactor(t *testing.T) {
	spec.Covers(t, "MACE-ROLE-2")
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ssh.ParsePublicKey(ssh.Marshal(struct {
		Type        string
		Key         []byte
		Application string
	}{ssh.KeyAlgoSKED25519, public, "ssh:"}))
	if err != nil {
		t.Fatal(err)
	}
	private2, plain := newKey(t, "-t", "ed25519")
	signer, err := identity.FileSigner(private2, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer signer.Close()
	software, err := signer.SignApproval(rand.Reader, statement)
	if err != nil {
		t.Fatal(err)
	}
	touched := func(flags byte) string { return securityKeySignature(t, key, private, "ssh:", flags) }
	security := string(ssh.MarshalAuthorizedKey(key))
	second := identity.Proofs{Second: func(role string) bool { return role == "admin" }}
	for name, tc := range map[string]struct {
		proofs               identity.Proofs
		role, key, signature string
		counts               bool
	}{
		"a key in software":                   {second, "admin", plain, software, false},
		"a touch":                             {second, "admin", security, touched(0x01), false},
		"a touch by somebody it knows":        {second, "admin", security, touched(0x05), true},
		"a role that needs none, in software": {second, "operator", plain, software, true},
		"a role that needs none, by touch":    {second, "operator", security, touched(0x01), true},
		"where no role needs any":             {identity.Proofs{}, "admin", plain, software, true},
	} {
		_, err := tc.proofs.Verify(interlock.OperatorRecord{Name: "otto", Role: tc.role, SSHKey: tc.key}, interlock.MethodSSH, statement, tc.signature)
		if (err == nil) != tc.counts {
			t.Errorf("%s: %v", name, err)
		}
		var refusal *interlock.Error
		if err != nil && (!errors.As(err, &refusal) || refusal.Field != "method" || !strings.Contains(refusal.Message, "verify-required")) {
			t.Errorf("%s does not say what to sign with: %v", name, err)
		}
	}
}

func securityKeySignature(t *testing.T, key ssh.PublicKey, private ed25519.PrivateKey, application string, flags byte) string {
	t.Helper()
	rest := []byte{flags, 0, 0, 0, 7}
	device := signerFunc{key: key, sign: func(data []byte) *ssh.Signature {
		application, message := sha256.Sum256([]byte(application)), sha256.Sum256(data)
		blob := append(append(application[:], rest...), message[:]...)
		return &ssh.Signature{Format: ssh.KeyAlgoSKED25519, Blob: ed25519.Sign(private, blob), Rest: rest}
	}}
	signature, err := sshsig.Sign(strings.NewReader(statement), device, sshsig.HashSHA512, identity.ApprovalNamespace)
	if err != nil {
		t.Fatal(err)
	}
	return string(sshsig.Armor(signature))
}

func TestParsePublicKeyRefuses(t *testing.T) {
	private, err := os.ReadFile(first(newKey(t, "-t", "ed25519")))
	if err != nil {
		t.Fatal(err)
	}
	_, public := newKey(t, "-t", "ed25519")
	weak, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	weakKey, err := ssh.NewPublicKey(&weak.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]string{
		"empty":       "",
		"private key": string(private),
		"two keys":    public + public,
		"options":     `command="sh" ` + public,
		"rsa 2048":    string(ssh.MarshalAuthorizedKey(weakKey)),
		"garbage":     "ssh-ed25519 not-base64",
		"certificate": "ssh-ed25519-cert-v01@openssh.com AAAAIHNzaC1lZDI1NTE5LWNlcnQtdjAxQG9wZW5zc2guY29t",
		"pem":         string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: []byte{1}})),
	}
	for name, text := range tests {
		if key, err := identity.ParsePublicKey([]byte(text)); code(err) != interlock.CodeInvalid {
			t.Errorf("%s: got %v, %v", name, key, err)
		} else if strings.Contains(err.Error(), "AAAA") {
			t.Errorf("%s: the error repeats key material: %v", name, err)
		}
	}
}

func TestFileSigner(t *testing.T) {
	open, _ := newKey(t, "-t", "ed25519")
	locked := filepath.Join(t.TempDir(), "locked")
	sshKeygen(t, "", "-q", "-t", "ed25519", "-N", "correct horse", "-f", locked)
	garbage := filepath.Join(t.TempDir(), "garbage")
	writeFile(t, garbage, "not a key", 0o600)
	weak := filepath.Join(t.TempDir(), "weak")
	sshKeygen(t, "", "-q", "-t", "rsa", "-b", "2048", "-N", "", "-f", weak)
	readable, _ := newKey(t, "-t", "ed25519")
	if err := os.Chmod(readable, 0o644); err != nil {
		t.Fatal(err)
	}
	say := func(secret string) func() ([]byte, error) {
		return func() ([]byte, error) { return []byte(secret), nil }
	}
	tests := []struct {
		name, path string
		passphrase func() ([]byte, error)
		want       interlock.Code
	}{
		{name: "plain", path: open},
		{name: "encrypted", path: locked, passphrase: say("correct horse")},
		{name: "wrong passphrase", path: locked, passphrase: say("wrong"), want: interlock.CodeInvalid},
		{name: "nobody to ask", path: locked, want: interlock.CodeUnauthorized},
		{name: "public half", path: open + ".pub", want: interlock.CodeInvalid},
		{name: "garbage", path: garbage, want: interlock.CodeInvalid},
		{name: "missing", path: open + ".none", want: interlock.CodeNotFound},
		{name: "a directory", path: filepath.Dir(open), want: interlock.CodeInvalid},
		{name: "weak", path: weak, want: interlock.CodeInvalid},
		{name: "readable by all", path: readable, want: interlock.CodeUnauthorized},
	}
	for _, test := range tests {
		if _, err := identity.FileSigner(test.path, test.passphrase); code(err) != test.want {
			t.Errorf("%s: got %v, want code %q", test.name, err, test.want)
		}
	}
}

func TestAgentSigner(t *testing.T) {
	keyring := agent.NewKeyring()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	big, err := rsa.GenerateKey(rand.Reader, 3072)
	if err != nil {
		t.Fatal(err)
	}
	weak, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []any{weak, &private, big} {
		if err := keyring.Add(agent.AddedKey{PrivateKey: key}); err != nil {
			t.Fatal(err)
		}
	}
	socket := serveAgent(t, keyring)
	for _, keyType := range []string{"ssh-ed25519", "ssh-rsa"} {
		signer, err := identity.AgentSigner(socket, func(key identity.PublicKey) bool { return strings.HasPrefix(key.String(), keyType+" ") })
		if err != nil {
			t.Fatalf("%s: %v", keyType, err)
		}
		signature, err := signer.SignApproval(rand.Reader, statement)
		if err != nil {
			t.Fatalf("%s: %v", keyType, err)
		}
		if _, err := identity.VerifyApproval(signer.PublicKey().String(), statement, signature); err != nil {
			t.Errorf("%s: %v", keyType, err)
		}
		if err := signer.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := identity.AgentSigner(socket, func(identity.PublicKey) bool { return false }); code(err) != interlock.CodeNotFound {
		t.Errorf("no wanted key: %v", err)
	}
	if _, err := identity.AgentSigner("", nil); code(err) != interlock.CodeUnavailable {
		t.Errorf("no socket: %v", err)
	}
	if _, err := identity.AgentSigner(socket+".none", nil); code(err) != interlock.CodeUnavailable {
		t.Errorf("dead socket: %v", err)
	}
}

func TestCheckName(t *testing.T) {
	for _, good := range []string{"a", "olga", "ci-bot_2", "olga@example.com", strings.Repeat("a", 64)} {
		if err := identity.CheckName("name", good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"", "-rf", ".hidden", "Olga", "a b", "a\nb", "a,b", `a"b`, "ö", strings.Repeat("a", 65)} {
		if err := identity.CheckName("name", bad); code(err) != interlock.CodeInvalid {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// FuzzVerifyApproval: whatever comes as a signature, it verifies only if it is the one good signature up to white space.
func FuzzVerifyApproval(f *testing.F) {
	private := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		f.Fatal(err)
	}
	public := string(ssh.MarshalAuthorizedKey(signer.PublicKey()))
	signature, err := sshsig.Sign(strings.NewReader(statement), signer, sshsig.HashSHA512, identity.ApprovalNamespace)
	if err != nil {
		f.Fatal(err)
	}
	good := string(sshsig.Armor(signature))
	f.Add(good)
	f.Add(good + good)
	f.Add("")
	f.Add("-----BEGIN SSH SIGNATURE-----\nU1NIU0lH\n-----END SSH SIGNATURE-----\n")
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := identity.VerifyApproval(public, statement, text); err == nil && squeeze(text) != squeeze(good) {
			t.Errorf("another signature verifies: %q", text)
		}
	})
}

type signerFunc struct {
	key  ssh.PublicKey
	sign func([]byte) *ssh.Signature
}

func (s signerFunc) PublicKey() ssh.PublicKey { return s.key }

func serveAgent(t *testing.T, keyring agent.Agent) string {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "agent")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() { _ = agent.ServeAgent(keyring, conn) }()
		}
	}()
	return socket
}

func writeFile(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func first(path, _ string) string { return path }

func (s signerFunc) Sign(_ io.Reader, data []byte) (*ssh.Signature, error) { return s.sign(data), nil }
