package impact

// hint analyses hint input.
func (s *scan) hint(in string) { s.unknown("hint", TraitUnsupported) }
