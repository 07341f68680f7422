package config

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"interlock"
)

// A Memory says what agents may have kept. What is zero is as its methods say.
type Memory struct {
	Enabled bool     `json:"enabled"`
	Shared  []string `json:"shared"`
	TTL     Duration `json:"ttl"`
	Facts   int      `json:"facts"`
}

const (
	memoryTTL      = 30 * 24 * time.Hour
	memoryLongest  = 366 * 24 * time.Hour
	memoryFacts    = 10_000
	maxSharedScope = 64 // bytes, and scopes
)

// Lives is how long an episodic fact is kept, and Most how many of one agent are in one store.
func (m Memory) Lives() time.Duration { return cmp.Or(time.Duration(m.TTL), memoryTTL) }
func (m Memory) Most() int            { return cmp.Or(m.Facts, memoryFacts) }

func (m Memory) check() error {
	switch {
	case m.Lives() < time.Minute || m.Lives() > memoryLongest:
		return interlock.Errorf(interlock.CodeInvalid, "memory.ttl", "must be from 1m to %s", memoryLongest)
	case m.Facts < 0 || m.Facts > memoryFacts:
		return interlock.Errorf(interlock.CodeInvalid, "memory.facts", "must be from 1 to %d", memoryFacts)
	case len(m.Shared) > maxSharedScope || slices.ContainsFunc(m.Shared, func(scope string) bool {
		return scope == "" || len(scope) > maxSharedScope || strings.Trim(scope, "abcdefghijklmnopqrstuvwxyz0123456789_") != ""
	}):
		return interlock.Errorf(interlock.CodeInvalid, "memory.shared", "lists scopes, which are the first parts of keys, such as project")
	}
	return nil
}
