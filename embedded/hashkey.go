package embedded

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/fileio"
)

// hashKeyFile is what hashes of personal data are keyed with: without it nobody can tell which of a few million possible numbers
// a hash is of. It is another key than the log's, whose holders may know what the log holds and not what was kept out of it.
const hashKeyFile = "hash.key"

// hasher hashes with the home's key, which is read, or made, the first time that something is hashed. The key in use is derived from it
// for one month at a time, so that equal values can be told to be equal within that month only.
func hasher(home string) core.Hasher {
	var key string
	var mutex sync.Mutex
	return func(value, seed string, at time.Time) (hash, id string, err error) {
		mutex.Lock()
		defer mutex.Unlock()
		if key == "" {
			if key, err = hashKey(home); err != nil {
				return "", "", err
			}
		}
		month := at.UTC().Format("2006-01")
		return KeyedHash(sum(key, "interlock/hash-key/v1:"+month), value, seed), month, nil
	}
}

// hashKey reads the key, or makes it. Several processes may do so at once: the first one's stays.
func hashKey(home string) (string, error) {
	path := filepath.Join(home, hashKeyFile)
	text, err := fileio.Own(path, maxKey, fileio.Secret)
	if errors.Is(err, fs.ErrNotExist) {
		if err = writeOnce(home, path, rand.Text()+rand.Text()+"\n"); err == nil {
			text, err = fileio.Own(path, maxKey, fileio.Secret)
		}
	}
	key := strings.TrimSpace(string(text))
	if err == nil && len(key) < minHashKey {
		err = errors.New("it is too short")
	}
	if err != nil {
		return "", interlock.Errorf(interlock.CodeUnavailable, hashKeyFile, "the key for hashes can't be used: %s; put the file back "+
			"from a backup, or move it away for a new one, under which older hashes can't be compared", fileio.Reason(err))
	}
	return key, nil
}

// minHashKey is how many characters a key for hashes has at least.
const minHashKey = 32

// KeyedHash is the hash of a value under a key and the seed of a run, in hexadecimal: HMAC-SHA256(key, value + seed), as MACE's companion
// about privacy asks.
func KeyedHash(key, value, seed string) string {
	return hex.EncodeToString([]byte(sum(key, value+seed)))
}

func sum(key, text string) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(text))
	return string(mac.Sum(nil))
}
