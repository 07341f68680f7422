package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"sync"
)

// relayFlag makes this program stand between its client and a server as a gateway does and copy bytes, nothing else: what that
// costs no gateway can save. It is followed by a file, or "", and the server's command. Where there is a file, 8 KB are written
// to it with sync before anything goes on to the server. Where the file is [relayReads], each message is read as JSON and held
// against one regular expression: the least that can be called a policy.
const relayFlag = "-relay"

// relayReads is given in place of a relay's file.
const relayReads = "-reads"

// relayForbids is what such a relay lets no call say.
var relayForbids = regexp.MustCompile(`(?i)\brm\s+-[a-z]*[rf]|\bdrop\s+(table|database)\b|/etc/(passwd|shadow)|BEGIN [A-Z ]*PRIVATE KEY`)

// relayLog is how large that file is: it is written over and over, as a write-ahead log is.
const relayLog = 4 << 20

// relay runs until the client or the server is gone.
func relay(log string, command []string) error {
	cmd := exec.Command(command[0], command[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	if log == relayReads {
		var both sync.WaitGroup
		both.Go(func() {
			readAndPass(in, os.Stdin)
			in.Close()
		})
		both.Go(func() { readAndPass(os.Stdout, out) })
		both.Wait()
		return cmd.Wait()
	}
	before := func() error { return nil }
	if log != "" {
		if before, err = syncedWrites(log); err != nil {
			return err
		}
	}
	var both sync.WaitGroup
	both.Go(func() {
		copyAfter(in, os.Stdin, before)
		in.Close()
	})
	both.Go(func() { copyAfter(os.Stdout, out, func() error { return nil }) })
	both.Wait()
	return cmd.Wait()
}

// readAndPass passes on the messages that are JSON and say nothing forbidden.
func readAndPass(to io.Writer, from io.Reader) {
	reader := bufio.NewReaderSize(from, 1<<16)
	for {
		line, err := reader.ReadBytes('\n')
		if err != nil {
			return
		}
		if passes(line) != nil {
			continue
		}
		if _, err := to.Write(line); err != nil {
			return
		}
	}
}

func passes(line []byte) error {
	var m struct {
		Method string          `json:"method"`
		ID     json.RawMessage `json:"id"`
		Params struct {
			Name      string         `json:"name"`
			Arguments map[string]any `json:"arguments"`
		} `json:"params"`
	}
	if err := json.Unmarshal(line, &m); err != nil {
		return err
	}
	if relayForbids.Match(line) {
		return errors.New("forbidden")
	}
	return nil
}

// copyAfter copies what comes, after a step for each piece.
func copyAfter(to io.Writer, from io.Reader, step func() error) {
	buffer := make([]byte, 1<<16)
	for {
		n, err := from.Read(buffer)
		if err != nil || step() != nil {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// syncedWrites makes a file and returns what writes 8 KB to it with sync.
func syncedWrites(path string) (func() error, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if _, err := file.Write(make([]byte, relayLog)); err != nil {
		return nil, err
	}
	page, at := make([]byte, 8<<10), int64(0)
	return func() error {
		page[0]++
		if _, err := file.WriteAt(page, at); err != nil {
			return err
		}
		at = (at + int64(len(page))) % relayLog
		return file.Sync()
	}, file.Sync()
}
