package sandbox

import (
	"context"
	"net"
	"os"
)

// serve waits for the listener that the bridge hands out, and answers it.
func serve(ctx context.Context, door *os.File, n Network) *proxy {
	p := newProxy(ctx, n)
	p.work.Go(func() {
		file, err := handed(door)
		if err != nil {
			return // the sandbox ended first
		}
		listener, err := net.FileListener(file)
		file.Close()
		if err != nil {
			return
		}
		p.accept(listener)
	})
	return p
}
