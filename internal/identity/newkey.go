package identity

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"

	"golang.org/x/crypto/ssh"
)

// NewKey makes an ed25519 key with a passphrase, as ssh-keygen writes it: the private file, and the line of the public one. It is for
// homes that are thrown away; people make their own.
func NewKey(passphrase string) (private, public []byte, err error) {
	half, whole, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("making a key: %w", err)
	}
	block, err := ssh.MarshalPrivateKeyWithPassphrase(whole, "throw-away", []byte(passphrase))
	if err != nil {
		return nil, nil, fmt.Errorf("writing a key: %w", err)
	}
	line, err := ssh.NewPublicKey(half)
	if err != nil {
		return nil, nil, fmt.Errorf("writing a key: %w", err)
	}
	return pem.EncodeToMemory(block), ssh.MarshalAuthorizedKey(line), nil
}
