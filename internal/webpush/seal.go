package webpush

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
)

// The sizes of RFC 8188 and RFC 8291.
const (
	saltBytes  = 16
	authBytes  = 16
	recordSize = 4096
	maxPlain   = 2048 // of a message: a push service takes 4,096 bytes with all that is around it
	padTo      = 512  // messages are as long as each other, so that their length tells nobody which rule asked
)

// A target is a browser that asked to be told: where its push service listens, and the keys with which only it can read.
type target struct {
	endpoint string
	public   *ecdh.PublicKey
	auth     []byte
}

// seal encrypts a message for one browser, as one record of the content coding aes128gcm.
func seal(t target, plain []byte, random io.Reader) ([]byte, error) {
	var seed [32]byte
	salt := make([]byte, saltBytes)
	if _, err := io.ReadFull(random, salt); err != nil {
		return nil, err
	}
	for { // of 2^32 seeds one is no key
		if _, err := io.ReadFull(random, seed[:]); err != nil {
			return nil, err
		}
		if own, err := ecdh.P256().NewPrivateKey(seed[:]); err == nil {
			return sealWith(t, plain, max(0, padTo-len(plain)), own, salt)
		}
	}
}

// sealWith encrypts with a key pair and a salt that are used once.
func sealWith(t target, plain []byte, pad int, own *ecdh.PrivateKey, salt []byte) ([]byte, error) {
	if len(plain) > maxPlain {
		return nil, errors.New("the message is too long")
	}
	shared, err := own.ECDH(t.public)
	if err != nil {
		return nil, errors.New("the browser's key can't be used")
	}
	sender := own.PublicKey().Bytes()
	info := "WebPush: info\x00" + string(t.public.Bytes()) + string(sender)
	secret, err := hkdf.Key(sha256.New, shared, t.auth, info, 32)
	if err != nil {
		return nil, err
	}
	key, err := hkdf.Key(sha256.New, secret, salt, "Content-Encoding: aes128gcm\x00", 16)
	if err != nil {
		return nil, err
	}
	nonce, err := hkdf.Key(sha256.New, secret, salt, "Content-Encoding: nonce\x00", 12)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	record := append(append(make([]byte, 0, len(plain)+1+pad), plain...), 2) // 2: this record is the last
	record = append(record, make([]byte, pad)...)
	body := append([]byte{}, salt...)
	body = binary.BigEndian.AppendUint32(body, recordSize)
	body = append(append(body, byte(len(sender))), sender...)
	return gcm.Seal(body, nonce, record, nil), nil
}

// unpadded reads base64url, which browsers write without padding, and some libraries with it.
func unpadded(text string) ([]byte, error) {
	for len(text) > 0 && text[len(text)-1] == '=' {
		text = text[:len(text)-1]
	}
	return base64.RawURLEncoding.DecodeString(text)
}
