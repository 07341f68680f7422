package auditlog

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"interlock"
	"interlock/internal/ledger"
	"interlock/internal/strictjson"
)

// maxLine bounds a line of an exported log: an entry, its checkpoint and the frame around them.
const maxLine = MaxEntry + 8<<10

// AppendLine writes an entry as one line of an exported log: the event's exact bytes, its index and, on the last entry of
// a commit, the signed checkpoint. The line is canonical JSON itself.
func AppendLine(dst []byte, e interlock.Entry) []byte {
	dst = append(dst, '{')
	if len(e.Checkpoint) > 0 {
		dst = append(strictjson.AppendString(append(dst, `"checkpoint":`...), string(e.Checkpoint)), ',')
	}
	dst = append(append(dst, `"event":`...), e.Body...)
	dst = strconv.AppendInt(append(dst, `,"index":`...), e.Index, 10)
	return append(dst, "}\n"...)
}

// parseLine reads a line of an exported log. The hashes a store keeps beside an entry are not in it.
func parseLine(line []byte) (interlock.Entry, error) {
	r := reader{rest: line}
	var e interlock.Entry
	r.literal(`{`)
	if len(r.rest) > 2 && r.rest[1] == 'c' {
		e.Checkpoint = []byte(r.text(`"checkpoint":`))
		r.literal(`,`)
	}
	e.Body = append([]byte(nil), r.object(`"event":`)...)
	r.literal(`,"index":`)
	digits := 0
	for digits < len(r.rest) && r.rest[digits] >= '0' && r.rest[digits] <= '9' {
		digits++
	}
	index, err := strconv.ParseInt(string(r.rest[:digits]), 10, 64)
	if err != nil {
		r.fail("its index is not a number")
	}
	e.Index, r.rest = index, r.rest[digits:]
	r.literal(`}`)
	if r.err == nil && len(r.rest) > 0 {
		r.fail("something follows it")
	}
	return e, r.err
}

// WriteLines exports a log: one line per entry, in order.
func WriteLines(ctx context.Context, w io.Writer, source Source) error {
	out := bufio.NewWriterSize(w, 1<<16)
	var line []byte
	err := source.Walk(ctx, func(e interlock.Entry) error {
		if Released(&e) {
			return errReleased(&e)
		}
		line = AppendLine(line[:0], e)
		_, err := out.Write(line)
		return err
	})
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return fmt.Errorf("auditlog: export: %w", err)
	}
	return nil
}

// A Copy is an exported log: lines written by WriteLines and the checkpoint that covers them. It is a Source.
type Copy struct {
	Checkpoint []byte                        // newest signed checkpoint; empty: the one on the last line that has one
	Open       func() (io.ReadCloser, error) // opens the lines from the beginning; called more than once
}

// Head returns the copy's head: its checkpoint alone.
func (c Copy) Head(ctx context.Context) (ledger.Head, error) {
	if len(c.Checkpoint) > 0 {
		return ledger.Head{Checkpoint: c.Checkpoint}, nil
	}
	var head ledger.Head
	err := c.lines(ctx, func(number int64, line []byte) error {
		if e, err := parseLine(line); err == nil && len(e.Checkpoint) > 0 {
			head.Checkpoint = e.Checkpoint
		}
		return nil
	})
	return head, err
}

// Walk calls visit for every line. A line that is not an entry becomes an entry with the line's bytes as its body and the
// place it is in, so that verification names it instead of giving up.
func (c Copy) Walk(ctx context.Context, visit func(interlock.Entry) error) error {
	var tree edge
	return c.lines(ctx, func(number int64, line []byte) error {
		e, err := parseLine(line)
		if err != nil {
			return visit(interlock.Entry{Index: number, Body: append([]byte(nil), line...)})
		}
		if event, err := ParseEvent(e.Body); err == nil {
			e.ID, e.Type = event.ID, event.Type
		}
		e.Hashes = tree.add(nil, leafHash(e.Body)) // a copy has no hashes of its own: chain, tree and checkpoint bind it
		return visit(e)
	})
}

func (c Copy) lines(ctx context.Context, take func(number int64, line []byte) error) error {
	file, err := c.Open()
	if err != nil {
		return err
	}
	defer file.Close()
	scanner := bufio.NewScanner(file)
	scanner.Buffer(make([]byte, 0, 1<<16), maxLine)
	for number := int64(0); scanner.Scan(); number++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := take(number, scanner.Bytes()); err != nil {
			return err
		}
	}
	if errors.Is(scanner.Err(), bufio.ErrTooLong) {
		return interlock.Errorf(interlock.CodeInvalid, "copy", "a line is longer than an entry can be")
	}
	return scanner.Err()
}
