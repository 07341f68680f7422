package embedded

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"interlock/internal/ruleset"
	"interlock/rules"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/config"
	"interlock/internal/fileio"
	"interlock/internal/vault"
)

// The key pair for recorded inputs that hold secrets. The public half is all that deciding needs; the private half may be kept
// elsewhere, and then such decisions can only be made again where it is.
const (
	inputsKeyFile    = "inputs.key"
	inputsPublicFile = "inputs.pub"
)

// Revision names the code that this program was built from.
func Revision() string {
	name, changed := Commit()
	if name == "" {
		return Version()
	}
	name = name[:min(len(name), 12)]
	if changed {
		name += "+changed"
	}
	return name
}

// Recorder says how a home keeps what decisions are made from.
func Recorder(c config.Config) admission.Recorder {
	sealer := sync.OnceValues(func() (func([]byte) ([]byte, error), error) { return inputsSealer(c.Home) })
	return admission.Recorder{Off: c.ForgetInputs, Personal: c.RedactsPersonal(), Program: Version(), Analyser: Revision(),
		Governance: governance(c),
		Seal: func(text []byte) ([]byte, error) {
			seal, err := sealer()
			if err != nil {
				return nil, err
			}
			return seal(text)
		},
		Ruleset: func(own map[string][]byte) ([]byte, error) { return ruleset.Documents(rules.Defaults(), own) }}
}

// governance is what the settings file says of how is decided. What a process may say otherwise of itself, such as whether
// somebody is there, is recorded with each decision instead.
func governance(c config.Config) map[string]string {
	said := map[string]string{
		"quiet_hours":   string(c.QuietHours),
		"forget_inputs": strconv.FormatBool(c.ForgetInputs),
		"archive_after": time.Duration(c.ArchiveAfter).String(),
		"allow_remote":  strconv.FormatBool(c.AllowRemote),
	}
	if c.RedactsPersonal() {
		said["privacy_log"] = string(config.PrivacyRedact)
	}
	return said
}

// inputsSealer seals for the home's key, which it makes where there is none.
func inputsSealer(home string) (func([]byte) ([]byte, error), error) {
	public, err := fileio.Own(filepath.Join(home, inputsPublicFile), maxKey, fileio.Settled) // what is sealed is sealed for it
	if errors.Is(err, fs.ErrNotExist) {
		public, err = makeInputsKey(home)
	}
	if err != nil {
		return nil, interlock.Errorf(interlock.CodeUnavailable, inputsPublicFile,
			"the key for recorded inputs can't be read: %s", fileio.Reason(err))
	}
	return vault.Sealer(string(public))
}

// makeInputsKey makes the key pair. Of several processes the first wins, as with the log's key: the public half, which comes
// second, is written from the private one that is there.
func makeInputsKey(home string) ([]byte, error) {
	private, _, err := vault.Generate()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(home, inputsKeyFile)
	if err := writeOnce(home, path, private); err != nil {
		return nil, err
	}
	stands, err := fileio.Own(path, maxKey, fileio.Secret)
	if err != nil {
		return nil, err
	}
	public, err := vault.Public(string(stands))
	if err != nil {
		return nil, err
	}
	if err := writeOnce(home, filepath.Join(home, inputsPublicFile), public); err != nil {
		return nil, err
	}
	return []byte(public), nil
}

// writeOnce writes a file for its owner alone, whole or not at all, unless there is one.
func writeOnce(home, path, text string) error {
	temporary, err := os.CreateTemp(home, "."+filepath.Base(path)+"-*") // CreateTemp gives mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.WriteString(text + "\n")
	if err == nil {
		err = temporary.Sync()
	}
	if closeErr := temporary.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	if err := os.Link(temporary.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// InputsOpener opens what was sealed in a home, for those who may read its key.
func InputsOpener(home string) (func(sealed []byte, most int64) ([]byte, error), error) {
	private, err := fileio.Own(filepath.Join(home, inputsKeyFile), maxKey, fileio.Secret)
	if err != nil {
		return nil, interlock.Errorf(interlock.CodeNotFound, inputsKeyFile,
			"the key for recorded inputs can't be read: %s; decisions about actions with secrets can't be made again without it",
			fileio.Reason(err))
	}
	return vault.Opener(strings.TrimSpace(string(private)))
}
