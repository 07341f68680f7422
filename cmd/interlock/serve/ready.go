package serve

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"
)

// probeEvery bounds how often /readyz may make the disk work: anybody on the machine can ask it.
const probeEvery = time.Second

// readiness answers whether decisions could be recorded now: the store can be read, and its directory takes a synced
// write. A full or read-only disk shows here before the first decision fails.
func readiness(home string, read func(context.Context) error, now func() time.Time) func(context.Context) error {
	var mu sync.Mutex
	var at time.Time
	var last error
	return func(ctx context.Context) error {
		mu.Lock()
		defer mu.Unlock()
		if !at.IsZero() && now().Sub(at) < probeEvery {
			return last
		}
		if last = read(ctx); last == nil {
			last = probeWrite(home)
		}
		at = now()
		return last
	}
}

// probeWrite writes and syncs one block beside the store and removes it again.
func probeWrite(home string) error {
	file, err := os.CreateTemp(home, ".ready-*")
	if err != nil {
		return fmt.Errorf("probing the store's directory: %w", err)
	}
	defer os.Remove(file.Name())
	_, err = file.Write(make([]byte, 4096))
	if err == nil {
		err = file.Sync()
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("probing the store's directory: %w", err)
	}
	return nil
}
