package harness

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"

	"interlock/internal/witness"
)

// checkpointName is the file beside a harness's settings that keeps the newest checkpoint the hook was handed.
const checkpointName = "interlock.checkpoint"

// CheckpointFile is where the hook leaves the newest signed checkpoint for a harness: outside the store, so that a log cut
// later contradicts it.
func CheckpointFile(home, agent string) string {
	return filepath.Join(home, filepath.FromSlash(cmp.Or(byName(agent).heads, "."+agent)), checkpointName)
}

// HeadFiles are the two places where the newest checkpoint for a harness is kept. Neither their names nor their directories have a
// part in common by which one pattern would find both. The second is behind the first by some entries, every at most as a rule.
func HeadFiles(home, agent string) [2]string {
	return [2]string{CheckpointFile(home, agent), filepath.Join(home, ".local", "state", "log-heads", agent+".note")}
}

// maxSmall bounds how much of a small file is read, in bytes.
const maxSmall = 64 << 10

// every is how many entries the second place may be behind: writing both at each call would cost each call a twentieth more.
const every = 16

// HeldHeads are the heads of a log that are held for a harness and have to be shown to go on: that of the first place and, where
// that is missing or it is its turn, of the second. A place that holds none has a zero one.
func HeldHeads(home, agent, origin string) []witness.Head {
	if home == "" || origin == "" {
		return nil
	}
	files := HeadFiles(home, agent)
	_, first := headAt(files[0], origin)
	if first.Size > 0 && first.Size%every < every-2 {
		return []witness.Head{first}
	}
	_, second := headAt(files[1], origin)
	if first.Size == 0 && second.Size == 0 {
		return nil
	}
	return []witness.Head{first, second}
}

// headAt finds the head of a log in a place, and its file: one of another log may have taken its name there.
func headAt(path, origin string) (string, witness.Head) {
	for _, file := range []string{path, aside(path, origin)} {
		if text, err := quickRead(file, 0); err == nil {
			if head, ok := witness.ParseHead(text); ok && head.Origin == origin {
				return file, head
			}
		}
	}
	return path, witness.Head{}
}

// aside is the name of a head in a place that another log's took.
func aside(path, origin string) string {
	sum := sha256.Sum256([]byte(origin))
	return path + "." + hex.EncodeToString(sum[:4])
}

// contradicting is the name of a head that contradicts the one held in a place.
func contradicting(path string) string { return path + ".contradicts" }

// KeepHeads moves what is held on to news, in each place by its own proof. What is not shown to go on from a head never takes its
// place, and a head of another log is moved aside, never overwritten: it may be the only witness of a log that is gone.
func KeepHeads(home, agent string, news *witness.News) error {
	if _, _, yes := news.Contradicted(); yes {
		return errors.New("what is to be kept contradicts what is held")
	}
	newest, readable := witness.ParseHead(news.Checkpoint)
	if !readable || home == "" {
		return os.ErrInvalid
	}
	files := HeadFiles(home, agent)
	if err := os.MkdirAll(filepath.Dir(files[0]), 0o700); err != nil {
		return err
	}
	unlock, err := lockDirectory(filepath.Dir(files[0])) // two hooks at once must not put the older one last
	if err != nil {
		return err
	}
	defer unlock()
	var failed error
	for i, path := range files {
		held := witness.Head{}
		if i < len(news.Held) {
			held = news.Held[i]
		} else if len(news.Held) > 0 {
			continue // it is not this place's turn
		}
		if held.Size >= newest.Size {
			continue
		}
		failed = errors.Join(failed, keepHead(path, held, newest, news.Checkpoint))
	}
	return failed
}

// keepHead puts a checkpoint where a head is held, unless that has moved meanwhile.
func keepHead(path string, held, newest witness.Head, checkpoint []byte) error {
	file, have := headAt(path, newest.Origin)
	if have != held {
		return nil // by a hook that was quicker, and has proved as much
	}
	if have.Size == 0 {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if other, err := quickRead(path, 0); err == nil {
			if of, ok := witness.ParseHead(other); ok { // of another log
				if err := os.Rename(path, aside(path, of.Origin)); err != nil {
					return err
				}
			}
		}
	}
	return quickWrite(file, checkpoint)
}

// KeepContradiction keeps news beside the heads held, which it contradicts, and reports whether it is the first to: that one stays.
func KeepContradiction(home, agent string, news *witness.News) (first bool, err error) {
	for _, path := range HeadFiles(home, agent) {
		beside := contradicting(path)
		if have, err := quickRead(beside, 0); err == nil && len(bytes.TrimSpace(have)) > 0 {
			continue
		}
		if failed := os.MkdirAll(filepath.Dir(path), 0o700); failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		err = errors.Join(err, quickWrite(beside, news.Checkpoint))
		first = true
	}
	return first, err
}

// KeptFiles are all files in which heads may be kept for a harness: those held, those of other logs, those that contradict them.
func KeptFiles(home, agent string) []string {
	var files []string
	for _, path := range HeadFiles(home, agent) {
		files = append(files, path)
		more, err := filepath.Glob(globbed(path) + ".*")
		if err != nil {
			continue
		}
		files = append(files, more...)
	}
	return files
}

// globbed is a path as a pattern that only it matches.
func globbed(path string) string {
	var out []byte
	for i := range len(path) {
		if os.PathSeparator != '\\' && (path[i] == '*' || path[i] == '?' || path[i] == '[' || path[i] == '\\') {
			out = append(out, '\\')
		}
		out = append(out, path[i])
	}
	return string(out)
}
