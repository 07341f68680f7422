package main

import (
	"fmt"
	"io"
	"slices"

	"interlock"
	"interlock/internal/replay"
)

// An under is what some decisions were made under: the digest of the manifest of snapshots, and that of the registry. From and
// Decisions say since which event, and how many.
type under struct {
	Manifest  interlock.Digest `json:"manifest,omitempty"`
	Registry  string           `json:"registry,omitempty"`
	From      int64            `json:"from"`
	Decisions int              `json:"decisions"`
}

// maxUnders is how many of them are told apart.
const maxUnders = 100

// under counts a decision under what it was made under.
func (r *replayResult) under(record *replay.Record, registry string) {
	is := under{Manifest: record.Base.Manifest, Registry: registry, From: record.Index, Decisions: 1}
	at := slices.IndexFunc(r.Under, func(u under) bool { return u.Manifest == is.Manifest && u.Registry == is.Registry })
	switch {
	case at >= 0:
		r.Under[at].Decisions++
	case len(r.Under) < maxUnders:
		r.Under = append(r.Under, is)
	}
}

// printUnder prints what the decisions of a run were made under.
func (r *replayResult) printUnder(w io.Writer) {
	for _, u := range r.Under {
		fmt.Fprintf(w, "%d of them from event %d on under the snapshots %s and the registry %s\n", u.Decisions, u.From,
			printable(orDash(string(u.Manifest))), printable(orDash(u.Registry)))
	}
}
