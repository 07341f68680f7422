package mcpgateway

import "context"

// A Shelf keeps sealed calls that wait as tasks. What Put returned nil for survives the loss of the process.
type Shelf interface {
	Put(ctx context.Context, id string, sealed []byte) error
	Get(ctx context.Context, id string) (sealed []byte, found bool, err error)
}
