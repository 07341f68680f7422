//go:build !linux

package sandbox

import (
	"context"

	"interlock"
)

// Run refuses: the walls are Linux's.
func Run(context.Context, Spec) (Result, error) {
	return Result{}, interlock.Errorf(interlock.CodeUnavailable, "", "running commands in a sandbox needs Linux; nothing was run")
}

// Stage does nothing here.
func Stage([]string) bool { return false }
