package main

import (
	"io"
	"os"
	"os/exec"
	"sync"
)

// relayFlag makes this program stand between its client and a server as a gateway does and copy bytes, nothing else: what that
// costs no gateway can save. It is followed by a file, or "", and the server's command. Where there is a file, 8 KB are written
// to it with sync before anything goes on to the server.
const relayFlag = "-relay"

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
