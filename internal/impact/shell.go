package impact

func (s *scan) shell(input string) { s.unknown("sh", TraitUnsupported) }
