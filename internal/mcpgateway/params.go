package mcpgateway

import (
	"encoding/json"
	"strings"

	"interlock/internal/rpc"
)

// The members of _meta that the protocol gives a meaning.
const (
	MetaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaClientInfo   = "io.modelcontextprotocol/clientInfo"
	metaLogLevel     = "io.modelcontextprotocol/logLevel"
	metaServerInfo   = "io.modelcontextprotocol/serverInfo"
	metaSubscription = "io.modelcontextprotocol/subscriptionId"
)

// A meta is what a message's _meta says to the protocol. Nothing else of it goes on: what was not judged is not forwarded.
type meta struct {
	token        json.RawMessage // progressToken
	version      string
	capabilities json.RawMessage
	logLevel     string
	trace        []byte // the W3C trace members as they go on, without braces
}

// metaOf reads the _meta of params that were scanned before.
func metaOf(params []byte) meta {
	var m meta
	rpc.Members(rpc.Member(params, "_meta"), func(name, value []byte) {
		switch string(name) {
		case "progressToken":
			m.token = rpc.Answerable(value)
		case MetaVersion:
			m.version = rpc.Unquoted(value)
		case metaCapabilities:
			m.capabilities = value
		case metaLogLevel:
			m.logLevel = rpc.Unquoted(value)
		case "traceparent", "tracestate", "baggage":
			if len(value) <= 1024 && value[0] == '"' {
				if len(m.trace) > 0 {
					m.trace = append(m.trace, ',')
				}
				m.trace = append(append(append(append(m.trace, '"'), name...), '"', ':'), value...)
			}
		}
	})
	return m
}

// abilitiesOf reads a client's capabilities.
func abilitiesOf(capabilities []byte) abilities {
	a := abilities{raw: capabilities}
	rpc.Members(capabilities, func(name, value []byte) {
		if string(value) == "null" {
			return
		}
		switch string(name) {
		case "sampling":
			a.sampling = true
		case "roots":
			a.roots = true
		case "elicitation":
			a.form = rpc.Member(value, "form") != nil
			a.url = rpc.Member(value, "url") != nil
			if !a.url {
				a.form = true // an empty object means forms, as it did before there was another mode
			}
		case "extensions":
			a.tasks = rpc.Member(value, "io.modelcontextprotocol/tasks") != nil
		}
	})
	return a
}

// texts reads members of params that must be strings where they stand; it names one that is not.
func texts(params []byte, wanted map[string]*string) (wrong string) {
	rpc.Members(params, func(name, value []byte) {
		to := wanted[string(name)]
		if to == nil {
			return
		}
		if value[0] != '"' {
			wrong = "params/" + string(name) + " must be a string"
			return
		}
		*to = rpc.Unquoted(value)
	})
	return wrong
}

// canonicalNulls reports whether canonical JSON holds a NUL in a string, where it is always written as an escape.
func canonicalNulls(canonical []byte) bool {
	for i := 0; i < len(canonical); i++ {
		if canonical[i] != '\\' {
			continue
		}
		if strings.HasPrefix(string(canonical[i:min(i+6, len(canonical))]), `\u0000`) {
			return true
		}
		i++ // what is escaped
	}
	return false
}

// SaidRevision is the revision of the protocol that a message's own params name; empty: none.
func SaidRevision(params []byte) string { return metaOf(params).version }
