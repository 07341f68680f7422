package impact

// sql analyses sql input.
func (s *scan) sql(in string) { s.unknown("sql", TraitUnsupported) }
