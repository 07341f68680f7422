// Package pinning holds the definitions of tools that gateways take over to what was seen and approved before.
package pinning

import "interlock/internal/admission/core"

// Pins is the room's part of an Admission.
type Pins struct{ *core.Core }
