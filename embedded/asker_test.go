package embedded_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"interlock/embedded"
	"interlock/internal/config"
)

// TestGatewayKey: the key is made once, for its owner alone, whoever comes first, and stays; a damaged or open one is refused.
func TestGatewayKey(t *testing.T) {
	home := t.TempDir()
	keys := make([][]byte, 8)
	var all sync.WaitGroup
	for n := range keys {
		all.Go(func() {
			key, err := embedded.GatewayKey(home)
			if err != nil {
				t.Error(err)
			}
			keys[n] = key
		})
	}
	all.Wait()
	for _, key := range keys {
		if len(key) != 32 || !bytes.Equal(key, keys[0]) {
			t.Fatalf("keys %x", keys)
		}
	}
	path := filepath.Join(home, "gateway.key")
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	if runtime.GOOS != "windows" {
		if err := os.Chmod(path, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := embedded.GatewayKey(home); err == nil || !strings.Contains(err.Error(), "chmod 600") {
			t.Errorf("a key that others may read: %v", err)
		}
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, []byte("zz\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := embedded.GatewayKey(home); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a damaged key: %v", err)
	}
}

// TestShelf: what is kept is found again by another process, replaced as a whole, and nothing leaves its directory.
func TestShelf(t *testing.T) {
	home := t.TempDir()
	one, two := embedded.NewShelf(home), embedded.NewShelf(home)
	for _, text := range []string{"first", "second"} {
		if err := one.Put(t.Context(), "interlock-apr_1", []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, found, err := two.Get(t.Context(), "interlock-apr_1"); string(got) != text || !found || err != nil {
			t.Errorf("%q %v %v", got, found, err)
		}
	}
	for _, id := range []string{"", "..", "../gateway.key", "a/b", `a\b`, "A", strings.Repeat("a", 65), "a\x00"} {
		if err := one.Put(t.Context(), id, []byte("x")); err == nil {
			t.Errorf("%q was kept", id)
		}
		if _, found, err := one.Get(t.Context(), id); found || err != nil {
			t.Errorf("%q: %v %v", id, found, err)
		}
	}
	entries, err := os.ReadDir(filepath.Join(home, "tasks"))
	if err != nil || len(entries) != 1 {
		t.Errorf("%v %v", entries, err)
	}
}

// TestNewAsker: an asker is made of an open home.
func TestNewAsker(t *testing.T) {
	home := t.TempDir()
	backend, err := embedded.Open(t.Context(), embedded.Config{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Close()
	c := config.Defaults()
	c.Home = home
	asker, err := embedded.NewAsker(backend, c, "https://console.example")
	if err != nil {
		t.Fatal(err)
	}
	asker.Close()
}
