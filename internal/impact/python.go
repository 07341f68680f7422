package impact

// python analyses python input.
func (s *scan) python(in string) { s.unknown("python", TraitUnsupported) }
