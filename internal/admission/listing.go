package admission

import (
	"encoding/json"

	"interlock"
)

// A Listing is all the tools that a server listed on one connection, with every page of them.
type Listing struct {
	Server   string           // its name in the gateway's settings; without dots
	Identity interlock.Digest // of what was started or reached
	FirstUse bool             // what has never been seen is trusted, unless it holds instructions to a model
	// as the server sent them: name, title, description, schemas, annotations and whatever else there is
	Definitions []json.RawMessage
}

// A PinVerdict is what became of one definition of a [Listing].
type PinVerdict struct {
	Tool       string              // as the server calls it; empty if that can't be told
	Definition interlock.Digest    // of the definition, for [Upstream]; empty if it can't be read
	Approved   bool                // it may be shown, as far as its definition goes
	Why        interlock.PinReason // if not
}

// A Target is something that a caller could call: its name towards the caller, such as "server.tool", and what stands behind it.
type Target struct {
	Name     string
	Upstream interlock.Upstream
}
