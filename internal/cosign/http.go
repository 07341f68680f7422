package cosign

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// sizeType is the content type of an answer that says which size was cosigned last.
const sizeType = "text/x.tlog.size"

// Handler serves add-checkpoint under the root of a witness's address.
func (w *Witness) Handler(logger *slog.Logger) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /add-checkpoint", func(out http.ResponseWriter, in *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(out, in.Body, MaxRequest))
		if err != nil {
			http.Error(out, "the request is longer than 64 KiB, or did not come whole", http.StatusBadRequest)
			return
		}
		line, err := w.Add(body)
		var refusal *Refusal
		switch {
		case err == nil:
			out.Header().Set("Content-Type", "text/plain; charset=utf-8")
			_, _ = io.WriteString(out, line) // a client that went away asks again
		case errors.As(err, &refusal) && refusal.Sized:
			out.Header().Set("Content-Type", sizeType)
			out.WriteHeader(refusal.Status)
			fmt.Fprintf(out, "%d\n", refusal.Size)
		case errors.As(err, &refusal):
			logger.Warn("a checkpoint was not cosigned", "status", refusal.Status, "why", refusal.Why)
			http.Error(out, refusal.Why, refusal.Status)
		default:
			logger.Error("a checkpoint could not be cosigned", "error", err.Error())
			http.Error(out, "the witness can't keep what it sees", http.StatusInternalServerError)
		}
	})
	return mux
}

// ParseURL reads a witness's address. Plain HTTP is accepted for loopback only, as the caller says what that is.
func ParseURL(text string, loopback func(host string) bool) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" ||
		u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())) {
		return nil, errors.New("must be an HTTPS URL without user, query and fragment")
	}
	return u, nil
}

// maxAnswer bounds what is read of a witness's answer.
const maxAnswer = 64 << 10

// Ask has a witness cosign a checkpoint and returns the checkpoint with the cosignature below it. A *Refusal is the witness's answer.
func Ask(ctx context.Context, client *http.Client, at *url.URL, by *Verifier, r *Request) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, at.JoinPath("add-checkpoint").String(), bytes.NewReader(r.Append(nil)))
	if err != nil {
		return nil, errors.New("the URL can't be requested")
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, errors.New("the witness does not answer")
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return nil, errors.New("the witness's answer broke off")
	}
	if response.StatusCode != http.StatusOK {
		refusal := refuse(response.StatusCode, fmt.Sprintf("the witness answered with status %d", response.StatusCode))
		if size, ok := parseSize(strings.TrimSuffix(string(answer), "\n")); ok && response.Header.Get("Content-Type") == sizeType {
			refusal.Size, refusal.Sized = size, response.StatusCode == http.StatusConflict
		}
		return nil, refusal
	}
	return moved(r.Checkpoint, answer, by)
}

// moved puts a witness's valid cosignature below a checkpoint, and nothing else of what it answered.
func moved(checkpoint, lines []byte, by *Verifier) ([]byte, error) {
	opened, err := note.Open(append(bytes.Clone(checkpoint), lines...), note.VerifierList(by))
	if err != nil || len(opened.Sigs) == 0 {
		return nil, errors.New("the witness's answer is no cosignature of its key")
	}
	return fmt.Appendf(bytes.Clone(checkpoint), "\u2014 %s %s\n", by.Name(), opened.Sigs[0].Base64), nil
}
