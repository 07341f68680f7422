//go:build !linux

package sandbox

import (
	"context"
	"runtime"
)

// Probe says that there are no sandboxes here.
func Probe(context.Context, string, string) Features {
	return Features{System: runtime.GOOS + ", " + runtime.GOARCH, Missing: "running commands in a sandbox needs Linux"}
}
