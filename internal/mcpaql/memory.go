package mcpaql

import (
	"context"

	"interlock"
	"interlock/internal/memory"
)

// The memory is the same as over HTTP (POST /v1/memory/put and its siblings): whose a fact is says the credential of the connection. Where
// agents keep no facts here, none of its operations is there.

// Memory is where agents keep facts.
type Memory interface {
	PutFact(ctx context.Context, by interlock.Requester, q memory.Put) (memory.Reply, error)
	PromoteFact(ctx context.Context, by interlock.Requester, q memory.Promotion) (memory.Reply, error)
	GetFact(ctx context.Context, by interlock.Requester, key string) (memory.Reply, error)
	SearchFacts(ctx context.Context, by interlock.Requester, q memory.Query) (memory.Reply, error)
}

// memoryOperations are those of the memory.
func memoryOperations() []operation {
	return []operation{memoryPutOperation(), memoryGetOperation(), memorySearchOperation(), memoryPromoteOperation()}
}

func factKey() Parameter {
	return Parameter{Name: "key", Type: "string", Required: true, MaxLength: maxName,
		Description: "scope/entity_type/entity_id/attribute, in small letters, digits and _; the third part with - as well."}
}

func factRun() Parameter {
	return Parameter{Name: "run", Type: "string", MaxLength: maxName, Description: "Your run that it is learnt or read in."}
}

func factSubject() Parameter {
	return Parameter{Name: "subject", Type: "string", MaxLength: maxName, Description: "Whom it is about, by the id of their consent, where " +
		"personal data is in it."}
}

func factReply() typeInfo {
	return typeInfo{Name: "MemoryReply", Kind: "object", Description: "What came of it, and the facts that were asked for."}
}

// types lists every type of what is served.
func (s *Server) types() []typeDetail {
	all := types()
	if s.config.Memory == nil {
		return all
	}
	field := func(name, kind, description string) Parameter {
		return Parameter{Name: name, Type: kind, Description: description}
	}
	return append(all, typeDetail{typeInfo: factReply(), Fields: []Parameter{
		{Name: "outcome", Type: "string", Required: true, Description: "OK; anything else says why not, such as SEM_NOT_FOUND or PRIVACY_BLOCKED."},
		field("message", "string", "What is wrong."), field("id", "string", "Of what was kept, or waits."),
		field("request_id", "string", "The council's request that it waits for."), field("event_id", "string", "That records it."),
		field("facts", "array", "The facts, each with its value, author, source and taint.")}})
}

func memoryPutOperation() operation {
	return operation{
		name: "memory_put", endpoint: Create, permission: AutoApprove, danger: interlock.DangerReversible,
		description: "Keep a fact. A stable one (store semantic) waits for the council. It is kept, or waits, only if outcome is OK.",
		reasons:     []string{"Writes nothing but your memory; what gives orders, is secret or personal is not kept"},
		parameters: []Parameter{factKey(),
			{Name: "value", Type: "string", Required: true, MaxLength: memory.MaxValue, Description: "What is to be kept, as a text."},
			{Name: "store", Type: "string", Enum: []string{memory.Episodic, memory.Semantic}, Description: "Default: episodic."},
			{Name: "source", Type: "string", MaxLength: maxName, Description: "Where you have it from: user, or a name such as web:example.com."},
			{Name: "from", Type: "array", Items: &Parameter{Name: "fact", Type: "string", MaxLength: maxName},
				Description: "Ids of the facts that it is made of."},
			{Name: "ttl_seconds", Type: "integer", Description: "When an episodic fact ends, if sooner than the settings say."},
			{Name: "because", Type: "string", MaxLength: maxName, Description: "Why it is to be a stable fact, for those who vote."},
			factSubject(), factRun()},
		returns: factReply(),
		examples: []example{{"Keep what the user said",
			`{"operation":"memory_put","params":{"key":"user/person/me/editor","value":"uses vim","source":"user"}}`}},
		run: (*Server).memoryPut,
	}
}

func memoryGetOperation() operation {
	return operation{
		name: "memory_get", endpoint: Read, permission: AutoApprove, danger: interlock.DangerSafe,
		description: "Read what is kept under a key, with where it comes from and what may be wrong with that.",
		reasons:     []string{"Reads what you keep and what is shared, and changes nothing"},
		parameters:  []Parameter{factKey(), factRun(), factFields()},
		returns:     factReply(),
		examples:    []example{{"Read one", `{"operation":"memory_get","params":{"key":"user/person/me/editor"}}`}},
		run:         (*Server).memoryGet,
	}
}

func memorySearchOperation() operation {
	return operation{
		name: "memory_search", endpoint: Read, permission: AutoApprove, danger: interlock.DangerSafe,
		description: "Find facts that hold every word of a query, stable ones first.",
		reasons:     []string{"Reads what you keep and what is shared, and changes nothing"},
		parameters: []Parameter{{Name: "query", Type: "string", MaxLength: maxName, Description: "Words. Default: every fact."},
			{Name: "limit", Type: "integer", Description: "How many at most, up to 100. Default: 20."}, factRun(), factFields()},
		returns:  factReply(),
		examples: []example{{"Find some", `{"operation":"memory_search","params":{"query":"vim"}}`}},
		run:      (*Server).memorySearch,
	}
}

func memoryPromoteOperation() operation {
	return operation{
		name: "memory_promote", endpoint: Execute, permission: AutoApprove, danger: interlock.DangerReversible,
		description: "Ask the council to make an episodic fact a stable one.",
		reasons:     []string{"Asks people; nothing is written until they have approved it"},
		parameters: []Parameter{factKey(), {Name: "because", Type: "string", MaxLength: maxName, Description: "Why, for those who vote."},
			factSubject(), factRun()},
		returns:  factReply(),
		examples: []example{{"Ask for one", `{"operation":"memory_promote","params":{"key":"user/person/me/editor","because":"it holds"}}`}},
		run:      (*Server).memoryPromote,
	}
}

func factFields() Parameter {
	return Parameter{Name: "fields", Type: "string|array", Items: &Parameter{Name: "field", Type: "string"},
		Description: "Members of the answer to return. Default: everything."}
}

func (a arguments) number(name string) int64 {
	n, _ := a[name].(float64) // checked: a whole number, or nothing
	return int64(n)
}

func (s *Server) memoryPut(ctx context.Context, c Caller, a arguments) (any, error) {
	return s.config.Memory.PutFact(ctx, a.in(c), memory.Put{Key: a.text("key"), Value: a.text("value"), Store: a.text("store"),
		Source: a.text("source"), From: a.texts("from"), TTL: a.number("ttl_seconds"), Because: a.text("because"), Subject: a.text("subject")})
}

func (s *Server) memoryGet(ctx context.Context, c Caller, a arguments) (any, error) {
	return s.config.Memory.GetFact(ctx, a.in(c), a.text("key"))
}

func (s *Server) memorySearch(ctx context.Context, c Caller, a arguments) (any, error) {
	return s.config.Memory.SearchFacts(ctx, a.in(c), memory.Query{Query: a.text("query"), Limit: int(a.number("limit"))})
}

func (s *Server) memoryPromote(ctx context.Context, c Caller, a arguments) (any, error) {
	return s.config.Memory.PromoteFact(ctx, a.in(c), memory.Promotion{Key: a.text("key"), Because: a.text("because"),
		Subject: a.text("subject")})
}
