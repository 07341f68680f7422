//go:build !linux

package cli

// returnProgramPages does nothing where the system has no such call.
func returnProgramPages() {}
