package ruleset

// ModuleMeasures are what budgets of modules count: what limits do, and tokens, which are reported.
func ModuleMeasures() []string {
	return []string{string(MeasureActions), string(MeasureRecords), string(MeasureBytes), string(MeasureRecipients), string(MeasureCalls),
		string(MeasureTokens)}
}
