package identity

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os/exec"
	"strings"
	"time"

	"interlock/internal/fileio"

	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
	"golang.org/x/term"

	"interlock"
)

// agentTimeout bounds a whole exchange with an SSH agent. It is long because a person may have to find and touch a key.
const agentTimeout = 60 * time.Second

// A Signer signs statements with one SSH key, held in memory or by an agent.
type Signer struct {
	signer ssh.Signer
	public PublicKey
	weak   string
	close  func() error
}

// Weak says what the key lacks to prove that a person signs: one of the Weak constants of the root package, or nothing. A security key
// wants a touch; a file with a passphrase wants someone who knows it; of a key in an agent nobody can tell whether it asks.
func (s *Signer) Weak() string { return s.weak }

// PublicKey returns the key's public half.
func (s *Signer) PublicKey() PublicKey { return s.public }

// Close releases the connection to the agent, if there is one.
func (s *Signer) Close() error {
	if s.close == nil {
		return nil
	}
	return s.close()
}

// SignApproval returns the armored SSHSIG over statement in [ApprovalNamespace], as ssh-keygen -Y sign would write it.
// Key types that need randomness draw it from random.
func (s *Signer) SignApproval(random io.Reader, statement string) (string, error) {
	signature, err := sshsig.SignWithRand(strings.NewReader(statement), random, s.signer, sshsig.HashSHA512, ApprovalNamespace)
	if err != nil {
		return "", fmt.Errorf("signing the approval: %w", err)
	}
	return string(sshsig.Armor(signature)), nil
}

// FileSigner reads a private key file. A file others can read is refused, as ssh refuses it. If the key is encrypted,
// passphrase is asked once; nil means there is nobody to ask.
func FileSigner(path string, passphrase func() ([]byte, error)) (*Signer, error) {
	text, info, err := fileio.Look(path, maximumSignature)
	var unopened *fs.PathError
	switch {
	case errors.Is(err, fileio.ErrKind):
		return nil, interlock.Errorf(interlock.CodeInvalid, "key", "the key file is not a regular file")
	case errors.As(err, &unopened):
		return nil, interlock.Errorf(interlock.CodeNotFound, "key", "the key file can't be opened")
	case err != nil:
		return nil, interlock.Errorf(interlock.CodeInvalid, "key", "the key file can't be read: %s", err)
	case fileio.Kept(info, fileio.Secret) != nil && !looksPublic(text):
		return nil, interlock.Errorf(interlock.CodeUnauthorized, "key", "others can read this private key; chmod 600 it first")
	}
	return parseSigner(text, passphrase)
}

func parseSigner(text []byte, passphrase func() ([]byte, error)) (*Signer, error) {
	if looksPublic(text) {
		return nil, interlock.Errorf(interlock.CodeInvalid, "key",
			"this is a public key; give the private key file, or load the key into an SSH agent and leave --key away")
	}
	signer, err := ssh.ParsePrivateKey(text)
	var locked *ssh.PassphraseMissingError
	weak := interlock.WeakFile
	if errors.As(err, &locked) {
		weak = ""
		if passphrase == nil {
			return nil, interlock.Errorf(interlock.CodeUnauthorized, "key",
				"the key needs a passphrase and there is no terminal to ask on")
		}
		secret, promptErr := passphrase()
		if promptErr != nil {
			return nil, promptErr
		}
		signer, err = ssh.ParsePrivateKeyWithPassphrase(text, secret)
		clear(secret)
	}
	if err != nil {
		return nil, interlock.Errorf(interlock.CodeInvalid, "key", "not a private key this can read, or the wrong passphrase")
	}
	if err := checkKeyType(signer.PublicKey()); err != nil {
		return nil, err
	}
	if isSecurityKey(signer.PublicKey()) {
		weak = ""
	}
	return &Signer{signer: signer, public: PublicKey{key: signer.PublicKey()}, weak: weak}, nil
}

func looksPublic(text []byte) bool {
	_, err := ParsePublicKey(text)
	return err == nil
}

// AgentSigner finds a key in the SSH agent listening on a socket (SSH_AUTH_SOCK). The first key for which wanted
// returns true is used; keys of types approvals do not accept are passed over.
func AgentSigner(socket string, wanted func(PublicKey) bool) (*Signer, error) {
	if socket == "" {
		return nil, interlock.Errorf(interlock.CodeUnavailable, "key", "no SSH agent is running (SSH_AUTH_SOCK is not set)")
	}
	conn, err := net.DialTimeout("unix", socket, 5*time.Second)
	if err != nil {
		return nil, interlock.Errorf(interlock.CodeUnavailable, "key", "the SSH agent does not answer")
	}
	if err := conn.SetDeadline(time.Now().Add(agentTimeout)); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	signers, err := agent.NewClient(conn).Signers()
	if err != nil {
		return nil, errors.Join(interlock.Errorf(interlock.CodeUnavailable, "key",
			"the SSH agent does not list its keys"), conn.Close())
	}
	for _, signer := range signers {
		// The agent hands out its own key type; parse the bytes to get one whose algorithm and size can be checked.
		public, err := ssh.ParsePublicKey(signer.PublicKey().Marshal())
		if err != nil || checkKeyType(public) != nil {
			continue
		}
		if wanted(PublicKey{key: public}) {
			weak := interlock.WeakAgent
			if isSecurityKey(public) {
				weak = ""
			}
			return &Signer{signer: signer, public: PublicKey{key: public}, weak: weak, close: conn.Close}, nil
		}
	}
	return nil, errors.Join(interlock.Errorf(interlock.CodeNotFound, "key",
		"the SSH agent holds no operator's key"), conn.Close())
}

// Unprotected reports whether a private key lies in a file without a passphrase. What can't be read as a key is not one.
func Unprotected(path string) bool {
	text, err := fileio.Plain(path, maximumSignature)
	if err != nil {
		return false
	}
	signer, err := ssh.ParsePrivateKey(text)
	return err == nil && !isSecurityKey(signer.PublicKey())
}

// maxPassphrase bounds what a program that asks for one may answer.
const maxPassphrase = 4 << 10

// AskPassphrase asks for a passphrase as ssh does: by the program that SSH_ASKPASS names where SSH_ASKPASS_REQUIRE says force, and at
// the terminal otherwise.
func AskPassphrase(ctx context.Context, getenv func(string) string, prompt string) ([]byte, error) {
	program := getenv("SSH_ASKPASS")
	if program == "" || getenv("SSH_ASKPASS_REQUIRE") != "force" {
		return PromptPassphrase(prompt)
	}
	said, err := exec.CommandContext(ctx, program, prompt).Output()
	if err != nil || len(said) > maxPassphrase {
		return nil, interlock.Errorf(interlock.CodeUnauthorized, "key", "the program that SSH_ASKPASS names gave no passphrase")
	}
	return bytes.TrimRight(said, "\r\n"), nil
}

// PromptPassphrase asks for a passphrase on the terminal, never on standard input or output, so that it works in a
// pipeline and ends up in none.
func PromptPassphrase(prompt string) ([]byte, error) {
	tty, err := openTerminal()
	if err != nil {
		return nil, interlock.Errorf(interlock.CodeUnauthorized, "key",
			"the key needs a passphrase and there is no terminal to ask on")
	}
	defer tty.Close()
	if _, err := io.WriteString(tty.out, prompt); err != nil {
		return nil, fmt.Errorf("asking for the passphrase: %w", err)
	}
	secret, err := term.ReadPassword(int(tty.in.Fd()))
	_, _ = io.WriteString(tty.out, "\n") // cosmetic: the passphrase has been read either way
	if err != nil {
		return nil, fmt.Errorf("reading the passphrase: %w", err)
	}
	return secret, nil
}
