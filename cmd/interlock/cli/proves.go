package cli

import (
	"crypto/rand"
	"strings"

	"interlock"
	"interlock/embedded"
	"interlock/internal/identity"
)

// Proves returns what a key lacks to prove that a person signs, and refuses one that lacks too much for this home. A key in an SSH agent
// may sign without asking anybody, so the person who uses it types a word back at the terminal.
func (p *Program) Proves(backend *embedded.Backend, signer *identity.Signer) (weak string, err error) {
	weak = signer.Weak()
	if weak == "" {
		return "", nil
	}
	may, err := backend.WeakKeysMaySign(p.Ctx)
	if may || err != nil {
		return weak, err
	}
	if weak == interlock.WeakFile {
		return "", interlock.Errorf(interlock.CodeUnauthorized, "key",
			"this key has no passphrase, so anything of your user can sign with it; give it one with `ssh-keygen -p -f FILE`, "+
				"or use a passkey in the console or a security key (an sk- key)")
	}
	word, err := identity.Word(rand.Reader)
	if err != nil {
		return "", err
	}
	text := "The SSH agent signs with " + signer.PublicKey().Fingerprint() + ", and can't tell whether it asks anybody.\n"
	return weak, identity.TypeBack(p.Ctx, text, word)
}

// NoteUnprotected says of the private key beside a public one that it will not do.
func (p *Program) NoteUnprotected(public string) error {
	private := strings.TrimSuffix(public, ".pub")
	if private == public || !identity.Unprotected(private) {
		return nil
	}
	_, err := p.Stderr.Write([]byte("note: the private key beside it has no passphrase, so it will not sign here; give it one: ssh-keygen -p -f " +
		Printable(private) + "\n"))
	return err
}
