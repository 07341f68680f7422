package mcpaql

import (
	"context"
)

// batchResult is what a batch answers beside its success (AQL-7.5). The published schemas of batches and of results agree on
// nothing else: where a batch is halted, the operation that halts it is last among the results, and what was not tried is among
// the details of its failure.
type batchResult struct {
	Results []batchItem    `json:"results"`
	Summary map[string]int `json:"summary"`
}

type batchItem struct {
	Index     int    `json:"index"`
	Operation string `json:"operation"`
	Result    Result `json:"result"`
	Status    string `json:"status,omitempty"` // pending_confirmation of the one that halts
}

// A pendingItem is an operation that was not tried because the batch was halted, as it was sent.
type pendingItem struct {
	Index     int            `json:"index"`
	Operation string         `json:"operation"`
	Params    map[string]any `json:"params,omitempty"`
}

// batch carries operations out in order. One that fails does not stop the rest; one that wants a confirmation does,
// because what comes after may rest on it.
func (s *Server) batch(ctx context.Context, c Caller, endpoint Endpoint, items []any) Result {
	out := &batchResult{Results: []batchItem{}, Summary: map[string]int{"total": len(items), "succeeded": 0, "failed": 0}}
	for index, item := range items {
		r, failure := s.batched(item)
		var result Result
		if failure != nil {
			result = s.refuse(ctx, c, r.operation, failure)
		} else {
			result = s.one(ctx, c, endpoint, r)
		}
		done := batchItem{Index: index, Operation: short(r.operation), Result: result}
		switch {
		case result.Error != nil && result.Error.Code == CodeConfirmation:
			pending := s.untried(index+1, items)
			done.Status = "pending_confirmation"
			done.Result.Error = result.Error.with("pending_operations", pending)
			out.Results = append(out.Results, done)
			out.Summary["halted"], out.Summary["pending"] = 1, len(pending)
			return Result{batch: out}
		case result.Error != nil:
			out.Results = append(out.Results, done)
			out.Summary["failed"]++
		default:
			out.Results = append(out.Results, done)
			out.Summary["succeeded"]++
		}
	}
	return Result{batch: out}
}

// untried are the operations of a batch from a place on, as they were sent.
func (s *Server) untried(from int, items []any) []pendingItem {
	pending := []pendingItem{}
	for index := from; index < len(items); index++ {
		r, _ := s.batched(items[index])
		pending = append(pending, pendingItem{Index: index, Operation: short(r.operation), Params: s.resend(r)})
	}
	return pending
}

// batched reads one operation of a batch. Batches don't nest.
func (s *Server) batched(item any) (request, *Failure) {
	object, ok := item.(map[string]any)
	if !ok {
		return request{}, invalidType("operations", "array of object", item, "")
	}
	r, failure := requestOf(object, s.config.Limits)
	if failure == nil && r.isBatch {
		failure = &Failure{Code: CodeUnknownParam, Message: "A batch can't hold a batch; list its operations themselves",
			Details: map[string]any{"unknown_params": []string{"operations"}, "valid_params": []string{"operation", "params"}}}
	}
	return r, failure
}

// resend is every parameter of a request, metadata included, as it would be sent again; secrets are left for the caller to
// put in.
func (s *Server) resend(r request) map[string]any {
	out := map[string]any{}
	for _, level := range []map[string]any{r.top, r.params, r.meta} {
		for name, value := range level {
			out[name] = value
		}
	}
	o, _ := s.find(r.operation)
	for _, p := range o.parameters {
		if p.Sensitive {
			delete(out, p.Name)
		}
	}
	return out
}
