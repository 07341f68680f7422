package impact

// text analyses text input.
func (s *scan) text(in string) { s.unknown("text", TraitUnsupported) }
