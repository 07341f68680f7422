package impact

import "encoding/json"

// http analyses an HTTP request.
func (s *scan) http(args json.RawMessage) { s.unknown("http", TraitUnsupported) }
