package impact

import "encoding/json"

// file analyses a file operation by a tool.
func (s *scan) file(tool string, args json.RawMessage) { s.unknown(tool, TraitUnsupported) }
