//go:build !linux

package main

// returnProgramPages does nothing where the system has no such call.
func returnProgramPages() {}
