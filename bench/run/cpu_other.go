//go:build !unix

package main

import (
	"os"
	"time"
)

// cpuTime is not measured on this system; the column shows zero.
func cpuTime() time.Duration { return 0 }

// peakMB is not known here.
func peakMB(*os.ProcessState) float64 { return 0 }
