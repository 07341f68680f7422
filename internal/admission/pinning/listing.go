package pinning

import (
	"encoding/json"

	"interlock"
)

// A Listing is one whole list of what a server offers, as it listed it on one connection, with every page of it.
type Listing struct {
	Server   string           // its name in the gateway's settings; without dots
	Identity interlock.Digest // of what was started or reached
	FirstUse bool             // what has never been seen is trusted, unless it holds instructions to a model
	// what is listed: [interlock.PinnedPrompt] or its like; empty: tools, and with them the server itself is examined
	Of string
	// with tools: what of that kind the server says it has no list of, so that it is new when there is one
	Absent []string
	// as the server sent them: name, title, description, schemas, annotations and whatever else there is
	Definitions []json.RawMessage
}

// A PinVerdict is what became of one definition of a [Listing].
type PinVerdict struct {
	Tool       string              // what it is pinned under, as in [interlock.Upstream]; empty if that can't be told
	Definition interlock.Digest    // of the definition, for [interlock.Upstream]; empty if it can't be read
	Approved   bool                // it may be shown, as far as its definition goes
	Why        interlock.PinReason // if not
}

// A Target is something that a caller could call: its name towards the caller, such as "server.tool", and what is behind it.
type Target struct {
	Name     string
	Upstream interlock.Upstream
}
