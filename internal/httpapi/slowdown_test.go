package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"interlock/internal/httpapi"
)

// TestSlowDown: an agent that sends too much that is costly to read is told so after a while, and holds nothing once it is gone; what is
// decided is answered without waiting.
func TestSlowDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, httpapi.Limits{SlowDown: 3 * time.Second})
		begun := time.Now()
		answer := func(ctx context.Context, input string, code int, after time.Duration) http.Header {
			t.Helper()
			r := httptest.NewRequestWithContext(ctx, "POST", "http://127.0.0.1/v1/decide",
				strings.NewReader(`{"kind":"shell","input":"`+input+`","dir":"/w"}`))
			r.Header.Set("Authorization", "Bearer "+liveToken)
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			h.server.Handler().ServeHTTP(w, r)
			if took := time.Now().Sub(begun); w.Code != code || took != after {
				t.Errorf("%s: %d after %s, %s", input, w.Code, took, w.Body)
			}
			return w.Header()
		}
		answer(t.Context(), "deny", http.StatusOK, 0)
		if after := answer(t.Context(), "costly", http.StatusTooManyRequests, 3*time.Second).Get("Retry-After"); after != "3" {
			t.Errorf("to be tried again after %q", after)
		}
		gone, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		answer(gone, "costly", http.StatusTooManyRequests, 4*time.Second)
	})
}
