package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"interlock/internal/httpapi"
)

// TestSlowDown: an agent that sends too much that is costly to read is told so after a while, and holds nothing once it is gone; what is
// decided is answered without waiting.
func TestSlowDown(t *testing.T) {
	const hold = 50 * time.Millisecond
	answer := func(ctx context.Context, h *house, input string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(ctx, "POST", "http://127.0.0.1/v1/decide", strings.NewReader(`{"kind":"shell","input":"`+input+`","dir":"/w"}`))
		r.Header.Set("Authorization", "Bearer "+liveToken)
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.server.Handler().ServeHTTP(w, r)
		return w
	}
	begun := time.Now()
	w := answer(t.Context(), newHouse(t, httpapi.Limits{SlowDown: hold}), "costly")
	if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "1" {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	if took := time.Since(begun); took < hold {
		t.Errorf("it was told after %s", took)
	}
	never := newHouse(t, httpapi.Limits{SlowDown: 1 << 62})
	if w := answer(t.Context(), never, "deny"); w.Code != http.StatusOK {
		t.Errorf("a decision: %d %s", w.Code, w.Body)
	}
	gone, leave := context.WithCancel(t.Context())
	left := make(chan struct{})
	go func() {
		defer close(left)
		answer(gone, never, "costly")
	}()
	leave()
	<-left
}
