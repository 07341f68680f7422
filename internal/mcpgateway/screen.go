package mcpgateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"interlock"
	"interlock/internal/classify"
	"interlock/internal/rpc"
	"interlock/internal/telling"
)

// Everything that a server says goes to the client through one of the functions here, where a classifier is set. What of it may go on
// the classifier says, and where its texts are package telling.

// What a server's texts are in, as the record says it.
const (
	inResult     = "result of a server"
	inError      = "error of a server"
	inNotice     = "notice of a server"
	inQuestion   = "question of a server"
	inDefinition = "list of a server"
)

// errSpelled is the cause of withholding something that programs go by, such as a tool's name.
var errSpelled = interlock.Errorf(interlock.CodeInvalid, "",
	"what the server says holds something that may not be shown, where nothing can be taken out")

// An utterance is something that a server said, on its way to the client.
type utterance struct {
	where      string
	by         permit // the decided call that it came of, if there is one
	value      []byte // JSON that was scanned before
	definition bool
	chunk      string // the member that goes on with what was told before
	heard      *heard // that; nil: nothing was
}

// screen returns what of something may be shown and what is to be said of the rest. None of it may be where told is blocked, or with an
// error, which holds none of it. Without a classifier everything may.
func (s *Session) screen(ctx context.Context, o utterance) (shown []byte, told Shown, err error) {
	c := s.gateway.config.Classifier
	if c == nil || len(o.value) == 0 {
		return o.value, told, nil
	}
	options := telling.Options{Definition: o.definition, Speaks: classify.Speaks}
	if o.heard != nil {
		options.Chunk, options.Before = o.chunk, o.heard.pieces
	}
	value := telling.Read(o.value, options)
	if value.Empty() {
		return o.value, told, nil
	}
	ask := Classified{Requester: o.by.requester, Event: o.by.answer.Event, Where: o.where, Before: len(options.Before)}
	ask.Texts, ask.Runs = value.Texts()
	if ask.Requester.Agent == "" {
		ask.Requester = s.requester()
	}
	told, err = c.Classify(ctx, ask)
	switch {
	case err != nil || told.Blocked:
		return nil, told, err
	case o.heard != nil:
		o.heard.add(value.Chunks(told.Texts))
	}
	if told.Message == "" {
		return o.value, told, nil
	}
	shown, whole := value.Show(told.Texts)
	if !whole {
		return nil, told, errSpelled
	}
	return shown, told, nil
}

// plainly is a server's words as they may stand in the log and in the record.
func (s *Session) plainly(words string) string {
	if c := s.gateway.config.Classifier; c != nil && words != "" {
		return c.Plain(words)
	}
	return words
}

// noticeOf is the member of a result's _meta that says that something was taken out, where nothing else of it is shown to people.
const noticeOf = "interlock/notice"

// screened is a result as the client may see it.
func (s *Session) screened(ctx context.Context, r *request, p permit, result []byte) answer {
	if most := s.gateway.config.Limits.Result; len(result) > most {
		return s.withheld(r, p, "result_too_large", tooLarge)
	}
	shown, told, err := s.screen(ctx, utterance{where: inResult, by: p, value: result})
	switch {
	case err != nil:
		reason := "the server's answer was withheld"
		if refused := (*interlock.Error)(nil); errors.As(err, &refused) {
			reason = refused.Error()
		}
		return s.withheld(r, p, "result_withheld", reason)
	case told.Blocked:
		return r.blocked(told.Message)
	case told.Message != "":
		shown = remarked(shown, told)
	}
	if h := s.gateway.config.Hearer; h != nil {
		h.Returned(p.requester, interlock.View{}, p.action, string(shown))
	}
	return answer{result: shown}
}

// blocked is the answer in place of one that is blocked, in the exact words of MACE 3.3.
func (r *request) blocked(message string) answer {
	if r.method != "tools/call" {
		return faultOf(codeRefused, message, nil)
	}
	out := toolError{Content: []textContent{{Type: "text", Text: message}}, IsError: true}
	if r.revision == RevisionStateless {
		out.Type = "complete"
	}
	return answer{result: encode(out)}
}

// remarked is a result that says that something was taken out of it, and where that waits for nobody: as texts more where it consists
// of such, else in its _meta.
func remarked(result []byte, told Shown) []byte {
	content := rpc.Member(result, "content")
	if len(content) > 1 && content[0] == '[' {
		list := []byte{'['}
		rpc.Elements(content, func(value []byte) { list = append(append(list, value...), ',') })
		list = append(list, encode(textContent{Type: "text", Text: told.Message})...)
		if told.Unreviewed != "" {
			list = append(append(list, ','), encode(textContent{Type: "text", Text: told.Unreviewed})...)
		}
		return rpc.With(result, "content", append(list, ']'))
	}
	if rpc.Member(result, "_meta") != nil {
		return result
	}
	return rpc.Appended(result, `"_meta":{"`+noticeOf+`":`+string(rpc.AppendString(nil, told.notice()))+`}`)
}

// notice is what is said of what is missing, in one text.
func (s Shown) notice() string {
	if s.Unreviewed == "" {
		return s.Message
	}
	return s.Message + " " + s.Unreviewed
}

// faulted is a server's error as the client may see it. Its code is kept, so that a program does what it does for such errors.
func (s *Session) faulted(ctx context.Context, p permit, fault []byte) answer {
	shown, told, err := s.screen(ctx, utterance{where: inError, by: p, value: fault})
	if err == nil && !told.Blocked {
		if told.Message != "" {
			message := rpc.Unquoted(rpc.Member(shown, "message")) + " " + told.notice()
			shown = rpc.With(shown, "message", rpc.AppendString(nil, message))
		}
		return answer{fault: shown}
	}
	code, wrong := strconv.Atoi(string(rpc.Member(fault, "code")))
	if wrong != nil {
		code = rpc.CodeInternal
	}
	if told.Blocked {
		return faultOf(code, told.Message, nil)
	}
	return faultOf(code, "the server's error was withheld", nil)
}

// What of a stream of notices is kept for what reaches over from one into the next: so many pieces, so many bytes of them, and where
// the last one ended in something that was taken out, such as the first lines of a key, as many as that may have.
const (
	maxHeard = 64
	mostSeam = 512
	mostOpen = 20 << 10
)

// A heard is the end of what a server has told in pieces, as it told them: what goes on behind something that was taken out is known
// by that. One goroutine uses it.
type heard struct{ pieces []string }

// add keeps pieces, of which so much was shown.
func (h *heard) add(said, shown []string) {
	if len(said) == 0 {
		return
	}
	h.pieces = append(h.pieces, said...)
	most := mostSeam
	if last := strings.TrimSpace(shown[len(shown)-1]); strings.HasSuffix(last, classify.Redacted) || strings.HasSuffix(last, classify.Omitted) {
		most = mostOpen
	}
	for n, size := len(h.pieces)-1, 0; n >= 0; n-- {
		piece := h.pieces[n]
		if size+len(piece) >= most || len(h.pieces)-n == maxHeard {
			h.pieces[n] = piece[max(0, len(piece)-(most-size)):]
			h.pieces = slices.Delete(h.pieces, 0, n)
			return
		}
		size += len(piece)
	}
}

// notice is the params of a server's notification as they may go on; nil: they may not. chunk is the member that goes on with what was
// told before, which h keeps.
func (s *Session) notice(params []byte, chunk string, h *heard) []byte {
	if s.gateway.config.Classifier == nil {
		return params
	}
	o := utterance{where: inNotice, value: params, chunk: chunk, heard: h}
	ctx, cancel := context.WithTimeout(s.ctx, recordTimeout)
	defer cancel()
	shown, told, err := s.screen(ctx, o)
	switch {
	case err != nil:
		return nil
	case told.Blocked && rpc.Member(params, chunk) == nil:
		return nil
	case told.Blocked: // what it is about is the gateway's or a number
		shown = rpc.With(params, chunk, rpc.AppendString(nil, told.Message))
		if rest, again, err := s.screen(ctx, utterance{where: inNotice, value: shown}); err != nil || again.Message != "" || rest == nil {
			return nil
		}
	}
	return shown
}

// mayAsk is the params of a server's request as the client may be asked it, or why it may not be.
func (s *Session) mayAsk(ctx context.Context, p permit, params json.RawMessage) (json.RawMessage, error) {
	shown, told, err := s.screen(ctx, utterance{where: inQuestion, by: p, value: params})
	if err == nil && told.Blocked {
		return nil, errSpelled
	}
	return shown, err
}

// defined is one entry of a server's list as the client may see it; nil: not at all. Its name and the names and values in its schemas
// are what calls go by: where something is found there the whole entry is left out. What was looked at before is not again.
func (m *mount) defined(ctx context.Context, before *offers, o offer, definition json.RawMessage) (json.RawMessage, error) {
	if same := before.named(o.name); same != nil && bytes.Equal(same.raw, definition) {
		return same.listed, nil
	}
	if before != nil && before.left[string(definition)] {
		return nil, nil
	}
	shown, told, err := m.session.screen(ctx, utterance{where: inDefinition, value: definition, definition: true})
	switch {
	case told.Blocked || errors.Is(err, errSpelled):
		m.session.gateway.config.Logger.Warn("what a server lists is left out, because it holds what may not be shown where nothing can "+
			"be taken out", "server", m.name())
		return nil, nil
	case err != nil:
		return nil, err
	}
	if o.full != o.name {
		shown = rpc.With(shown, "name", rpc.AppendString(nil, o.full))
	}
	return shown, nil
}

// leftOut is how many entries of such a list no client may see.
func (s *Session) leftOut(kind offerKind) (n int) {
	for _, m := range s.mounts {
		if found := m.offers[kind].Load(); found != nil && m.live.Load() != nil {
			n += len(found.left)
		}
	}
	return n
}

// instructed looks at what a server that has introduced itself tells the model.
func (m *mount) instructed(ctx context.Context) error {
	m.mu.Lock()
	about := m.about
	m.mu.Unlock()
	shown, told, err := m.session.screen(ctx, utterance{where: inDefinition, value: rpc.AppendString(nil, about)})
	if err != nil {
		return err
	}
	text := rpc.Unquoted(shown)
	if told.Blocked {
		text = ""
	}
	m.mu.Lock()
	m.shown = text
	m.mu.Unlock()
	return nil
}
