// Package vault seals what may not lie about as it is, for the holder of a key of its own: the inputs of decisions that hold
// secrets. Sealing needs the public half only.
//
// It is age's format, so that what is sealed can be opened with `age --decrypt` as well.
package vault

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"filippo.io/age"

	"interlock"
)

// Generate makes a key pair.
func Generate() (private, public string, err error) {
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		return "", "", fmt.Errorf("vault: make a key: %w", err)
	}
	return identity.String(), identity.Recipient().String(), nil
}

// Public returns the public half of a private key.
func Public(private string) (string, error) {
	identity, err := age.ParseX25519Identity(strings.TrimSpace(private))
	if err != nil {
		return "", badKey()
	}
	return identity.Recipient().String(), nil
}

func badKey() error {
	return interlock.Errorf(interlock.CodeInvalid, "inputs.key", "this is not a key for recorded inputs")
}

// Sealer returns what seals for the holder of the private half.
func Sealer(public string) (func(text []byte) ([]byte, error), error) {
	recipient, err := age.ParseX25519Recipient(strings.TrimSpace(public))
	if err != nil {
		return nil, interlock.Errorf(interlock.CodeInvalid, "inputs.pub",
			"this is not the public half of a key for recorded inputs")
	}
	return func(text []byte) ([]byte, error) {
		var out bytes.Buffer
		w, err := age.Encrypt(&out, recipient)
		if err == nil {
			_, err = w.Write(text)
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			return nil, fmt.Errorf("vault: seal: %w", err)
		}
		return out.Bytes(), nil
	}, nil
}

// Opener returns what opens what was sealed for a private key, up to a bound in bytes of the text.
func Opener(private string) (func(sealed []byte, most int64) ([]byte, error), error) {
	identity, err := age.ParseX25519Identity(strings.TrimSpace(private))
	if err != nil {
		return nil, badKey()
	}
	return func(sealed []byte, most int64) ([]byte, error) {
		r, err := age.Decrypt(bytes.NewReader(sealed), identity)
		if err != nil {
			return nil, fmt.Errorf("vault: open: %w", err)
		}
		text, err := io.ReadAll(io.LimitReader(r, most+1))
		if err != nil {
			return nil, fmt.Errorf("vault: open: %w", err)
		}
		if int64(len(text)) > most {
			return nil, fmt.Errorf("vault: what is sealed is over the bound of %d bytes", most)
		}
		return text, nil
	}, nil
}
