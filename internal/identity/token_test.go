package identity_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/identity"
	"interlock/internal/ledger"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestNewTokenIsAGoldenFunctionOfItsRandomness(t *testing.T) {
	token, hash, err := identity.NewToken(bytes.NewReader(bytes.Repeat([]byte{0xff}, 32)))
	if err != nil {
		t.Fatal(err)
	}
	if want := "ilk_" + strings.Repeat("_", 42) + "8"; token != want {
		t.Errorf("token %q, want %q", token, want)
	}
	if hash != identity.HashToken(token) || !strings.HasPrefix(hash, "sha256:") || len(hash) != 71 {
		t.Errorf("hash %q does not belong to the token", hash)
	}
	if !identity.TokenShaped(token) {
		t.Error("a token is not token-shaped")
	}
}

func TestNewTokenNeedsAllItsRandomness(t *testing.T) {
	if token, _, err := identity.NewToken(bytes.NewReader(make([]byte, 31))); err == nil || token != "" {
		t.Errorf("31 random bytes gave %q, %v", token, err)
	}
}

func TestTokenShape(t *testing.T) {
	token, _, _ := identity.NewToken(rand.Reader)
	for _, wrong := range []string{"", "ilk_", token[:len(token)-1], token + "A", "ILK_" + token[4:],
		token[:20] + "+" + token[21:], token[:20] + " " + token[21:]} {
		if identity.TokenShaped(wrong) {
			t.Errorf("%q passes for a token", wrong)
		}
	}
}

func TestTokens(t *testing.T) {
	live, liveHash, _ := identity.NewToken(rand.Reader)
	dead, deadHash, _ := identity.NewToken(rand.Reader)
	stranger, _, _ := identity.NewToken(rand.Reader)
	standing := ledger.Standing{Version: 1, Agents: map[string]interlock.AgentRecord{
		"live":  {ID: "live", TokenHash: liveHash},
		"dead":  {ID: "dead", TokenHash: deadHash, Revoked: noon.Add(-time.Hour)},
		"local": {ID: "local"},
		"odd":   {ID: "odd", TokenHash: "sha256:zz"},
	}}
	tokens := identity.NewTokens(func(context.Context, ...ledger.Ref) (ledger.Standing, error) { return standing, nil },
		func() time.Time { return noon })

	got, err := tokens.Agent(t.Context(), live)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(standing.Agents["live"], got); diff != "" {
		t.Errorf("agent (-want +got):\n%s", diff)
	}
	if got, err := tokens.Agent(t.Context(), dead); code(err) != interlock.CodeUnauthorized || got.ID != "dead" {
		t.Errorf("a revoked token gave %q, %v; want a refusal that names the agent", got.ID, err)
	}
	for _, wrong := range []string{stranger, "", "ilk_", liveHash, strings.ToUpper(live)} {
		if got, err := tokens.Agent(t.Context(), wrong); code(err) != interlock.CodeUnauthorized || got.ID != "" {
			t.Errorf("token %.8q… gave %q, %v", wrong, got.ID, err)
		}
	}

	// A revocation holds from the first standing that shows it.
	revoked := standing.Agents["live"]
	revoked.Revoked = noon
	standing = ledger.Standing{Version: 2, Agents: map[string]interlock.AgentRecord{"live": revoked}}
	if _, err := tokens.Agent(t.Context(), live); code(err) != interlock.CodeUnauthorized {
		t.Errorf("the revoked token gave %v", err)
	}
}

func TestTokensRefuseWithoutAStanding(t *testing.T) {
	token, _, _ := identity.NewToken(rand.Reader)
	tokens := identity.NewTokens(func(context.Context, ...ledger.Ref) (ledger.Standing, error) {
		return ledger.Standing{}, errors.New("disk on fire")
	}, func() time.Time { return noon })
	if _, err := tokens.Agent(t.Context(), token); err == nil {
		t.Error("a token counted although the agents could not be read")
	}
}

func code(err error) interlock.Code {
	var refusal *interlock.Error
	if errors.As(err, &refusal) {
		return refusal.Code
	}
	return ""
}
