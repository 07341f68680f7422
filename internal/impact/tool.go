package impact

import "encoding/json"

// tool analyses a call of a named tool.
func (s *scan) tool(name string, args json.RawMessage) { s.unknown(name, TraitUnsupported) }
