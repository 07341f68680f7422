package conform

// The table of maturity: what `interlock maso report` says is checked on a throw-away home, so that it claims nothing it has no evidence for.
func maturityChecks() []Check { return nil }
