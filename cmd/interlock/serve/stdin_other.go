//go:build !unix

package serve

import "io"

// waitable returns the input as it is: there is no other way to wait for it here.
func waitable(in io.Reader) io.Reader { return in }
