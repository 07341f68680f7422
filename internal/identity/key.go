package identity

import (
	"bytes"
	"crypto/rsa"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"

	"interlock"
)

// ApprovalNamespace is the SSHSIG namespace of approvals. It equals quorum.Namespace, which a test holds it to.
const ApprovalNamespace = "interlock-approval"

const (
	minimumRSABits   = 3072
	maximumSignature = 64 << 10 // an armored signature; the largest sane RSA key needs 4 KiB
	userPresent      = 0x01     // flag of a security-key signature: somebody touched it
	userVerified     = 0x04     // and it knows them, by a PIN or a finger: keys made with ssh-keygen -O verify-required
)

// names are what agents and operators may be called: nothing that needs quoting in a shell, a URL or a signers file.
var names = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[a-z0-9][a-z0-9._@-]{0,63}$`)
})

// CheckName refuses names that are not 1 to 64 characters of a-z, 0-9, ".", "_", "@" and "-", led by a letter or digit, and Interlock's own.
func CheckName(field, name string) error {
	if names().MatchString(name) {
		return interlock.CheckNotOwn(field, name)
	}
	return interlock.Errorf(interlock.CodeInvalid, field,
		"a name is 1 to 64 characters of a-z, 0-9, . _ @ and -, beginning with a letter or digit")
}

// A PublicKey is an operator's SSH public key of a type approvals accept.
type PublicKey struct{ key ssh.PublicKey }

// ParsePublicKey reads one line in authorized_keys form. It accepts ed25519, ecdsa, RSA of at least 3072 bits and the
// two security-key types; it refuses options, certificates, several keys and, above all, a private key.
func ParsePublicKey(text []byte) (PublicKey, error) {
	if bytes.Contains(text, []byte("PRIVATE KEY-----")) {
		return PublicKey{}, interlock.Errorf(interlock.CodeInvalid, "--ssh-key",
			"this is a private key; give the public one (the file ending in .pub) and keep this one to yourself")
	}
	key, _, options, rest, err := ssh.ParseAuthorizedKey(text)
	if err != nil {
		return PublicKey{}, interlock.Errorf(interlock.CodeInvalid, "--ssh-key", "not an SSH public key in authorized_keys form")
	}
	if len(options) > 0 || len(bytes.TrimSpace(rest)) > 0 {
		return PublicKey{}, interlock.Errorf(interlock.CodeInvalid, "--ssh-key", "want exactly one key, without options")
	}
	if err := checkKeyType(key); err != nil {
		return PublicKey{}, err
	}
	return PublicKey{key: key}, nil
}

func checkKeyType(key ssh.PublicKey) error {
	switch key.Type() {
	case ssh.KeyAlgoED25519, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521,
		ssh.KeyAlgoSKED25519, ssh.KeyAlgoSKECDSA256:
		return nil
	case ssh.KeyAlgoRSA:
		carrier, ok := key.(ssh.CryptoPublicKey)
		if !ok {
			break
		}
		if public, ok := carrier.CryptoPublicKey().(*rsa.PublicKey); !ok || public.N.BitLen() < minimumRSABits {
			return interlock.Errorf(interlock.CodeInvalid, "--ssh-key", "an RSA key needs at least %d bits", minimumRSABits)
		}
		return nil
	}
	return interlock.Errorf(interlock.CodeInvalid, "--ssh-key",
		"keys of type %.40q are not accepted; use ed25519, ecdsa, rsa or a security key", key.Type())
}

// String returns the key in authorized_keys form without a comment or a newline.
func (k PublicKey) String() string {
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(k.key)))
}

// Fingerprint returns the key's fingerprint as ssh-keygen -l prints it, "SHA256:…".
func (k PublicKey) Fingerprint() string { return ssh.FingerprintSHA256(k.key) }

// AllowedSigner returns the operator's line for an ssh-keygen allowed_signers file, limited to approvals.
func AllowedSigner(operator interlock.OperatorRecord) (string, error) {
	if err := CheckName("name", operator.Name); err != nil {
		return "", err
	}
	key, err := ParsePublicKey([]byte(operator.SSHKey))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s namespaces=%q %s", operator.Name, ApprovalNamespace, key), nil
}

// VerifyApproval checks an armored SSHSIG over statement in [ApprovalNamespace] against an operator's public key and
// returns the key's fingerprint. A security key must say that it was touched.
func VerifyApproval(publicKey, statement, signature string) (fingerprint string, err error) {
	fingerprint, _, err = verifySSH(publicKey, statement, signature)
	return fingerprint, err
}

// verifySSH is [VerifyApproval], and reports whether the key is a security key that knows who has touched it.
func verifySSH(publicKey, statement, signature string) (fingerprint string, knows bool, err error) {
	key, err := ParsePublicKey([]byte(publicKey))
	if err != nil {
		return "", false, err
	}
	parsed, err := unarmor(signature)
	if err != nil {
		return "", false, err
	}
	if parsed.HashAlgorithm != sshsig.HashSHA512 && parsed.HashAlgorithm != sshsig.HashSHA256 {
		return "", false, errors.New("the signature uses an unknown hash")
	}
	if err := sshsig.Verify(strings.NewReader(statement), parsed, key.key, parsed.HashAlgorithm, ApprovalNamespace); err != nil {
		return "", false, fmt.Errorf("checking the signature: %w", err)
	}
	// golang.org/x/crypto/ssh refuses an untouched key itself; checked here too, because approvals depend on it.
	if !isSecurityKey(key.key) {
		return key.Fingerprint(), false, nil
	}
	if len(parsed.Signature.Rest) == 0 || parsed.Signature.Rest[0]&userPresent == 0 {
		return "", false, errors.New("the security key was not touched")
	}
	return key.Fingerprint(), parsed.Signature.Rest[0]&userVerified != 0, nil
}

// SignatureKey returns the public key an armored signature says it was made with. It proves nothing; it finds the
// operator whose registered key is then verified against.
func SignatureKey(signature string) (PublicKey, error) {
	parsed, err := unarmor(signature)
	if err != nil {
		return PublicKey{}, interlock.Errorf(interlock.CodeInvalid, "signature",
			"not an SSH signature as ssh-keygen -Y sign writes it")
	}
	if err := checkKeyType(parsed.PublicKey); err != nil {
		return PublicKey{}, err
	}
	return PublicKey{key: parsed.PublicKey}, nil
}

func isSecurityKey(key ssh.PublicKey) bool {
	return key.Type() == ssh.KeyAlgoSKED25519 || key.Type() == ssh.KeyAlgoSKECDSA256
}

// unarmor reads exactly one armored signature. Anything around it is refused, so that what is recorded is what was
// verified.
func unarmor(signature string) (*sshsig.Signature, error) {
	const begin, end = "-----BEGIN " + sshsig.PEMType + "-----", "-----END " + sshsig.PEMType + "-----"
	trimmed := strings.TrimSpace(signature)
	if len(trimmed) > maximumSignature || !strings.HasPrefix(trimmed, begin) || !strings.HasSuffix(trimmed, end) ||
		strings.Count(trimmed, "-----BEGIN") != 1 || strings.Count(trimmed, "-----END") != 1 {
		return nil, errors.New("not one armored SSH signature")
	}
	parsed, err := sshsig.Unarmor([]byte(trimmed))
	if err != nil {
		return nil, fmt.Errorf("reading the signature: %w", err)
	}
	// One signature, one spelling: PEM headers, stray bytes and trailing data would survive the parser unsigned.
	if squeeze(trimmed) != squeeze(string(sshsig.Armor(parsed))) {
		return nil, errors.New("the signature is not in its plain form")
	}
	return parsed, nil
}

// squeeze removes white space: OpenSSH and Go wrap base64 at different widths.
func squeeze(s string) string { return strings.Join(strings.Fields(s), "") }
