package notify

import (
	"context"

	"interlock/internal/notice"
)

// standing is a channel to which nothing is sent: an operator who looks at the console or at `interlock watch` sees that a
// challenge waits and has a code of its own shown there. It always takes a notice.
type standing struct{}

func (standing) send(context.Context, notice.Notice) error { return nil }
