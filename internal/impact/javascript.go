package impact

// javascript analyses javascript input.
func (s *scan) javascript(in string) { s.unknown("javascript", TraitUnsupported) }
