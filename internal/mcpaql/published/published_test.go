package published

import "testing"

// TestShapesNotice: what is missing, of another type, or beside what is published is found, where it stands.
func TestShapesNotice(t *testing.T) {
	s, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	const detail = `{"name":"x","semantic_category":"READ","endpoint":"read","mcpTool":"t","description":"d",` +
		`"permissions":{"readOnly":true,"destructive":false},"parameters":[],"returns":{"name":"X","kind":"object"}`
	for _, tc := range []struct{ shape, text, want string }{
		{"OperationDetails", detail + `}`, ""},
		{"OperationDetails", detail + `,"examples":[{"request":{"operation":"x"}}]}`, ""},
		{"OperationDetails", detail + `,"examples":["x"]}`, "OperationDetails.examples[0] is no object"},
		{"OperationDetails", detail + `,"examples":[{"description":"d"}]}`, "OperationDetails.examples[0].request is missing"},
		{"OperationDetails", detail + `,"danger":{}}`, "OperationDetails.danger is not published"},
		{"OperationDetailData", `{"operation":null}`, ""},
		{"OperationDetailData", `{"operation":null,"danger":{}}`, "OperationDetailData.danger is not published"},
		{"IntrospectionFailure", `{"success":false,"error":{"code":"C","message":"m","details":{}}}`,
			"IntrospectionFailure.error.details is not published"},
		{"OperationResult", `{"success":true,"data":null,"results":[],"summary":{"total":0,"succeeded":0,"failed":0}}`, ""},
		{"OperationResult", `{"success":true,"data":null,"halted_at":{}}`, "OperationResult.halted_at is not published"},
		{"OperationResult", `{"success":false,"error":{"code":"c","message":"m"}}`, "OperationResult.error.code is c, which has another form"},
		{"DangerAuditEntry", `{"timestamp":"t","adapter_name":"a","operation":"o","danger_level":3,"adapter_trust":"certified","outcome":"denied"}`, ""},
		{"DangerAuditEntry", `{"timestamp":"t","adapter_name":"a","operation":"o","danger_level":"dangerous",` +
			`"adapter_trust":"certified","outcome":"denied"}`,
			"DangerAuditEntry.danger_level is no number"},
		{"TypeDetails", `{"name":"x","kind":"enum","values":["a"],"fields":[]}`, "TypeDetails.fields is not published"},
		{"TypeDetails", `{"name":"x","kind":"scalar"}`, ""},
		{"BatchSummary", `{"total":1.5,"succeeded":0,"failed":0}`, "BatchSummary.total is no integer"},
		{"AutonomyDirective", `{"continue":true}`, "AutonomyDirective.factors is missing"},
		{"AutonomyDirective", `7`, "AutonomyDirective is no object"},
		{"Nothing", `7`, "no shape is called Nothing"},
		{"TypeInfo", `{`, "it is no JSON"},
	} {
		faults := s.Check(tc.shape, []byte(tc.text))
		if tc.want == "" && len(faults) > 0 || tc.want != "" && (len(faults) == 0 || faults[0] != tc.want) {
			t.Errorf("%s of %s: %q, want %q", tc.shape, tc.text, faults, tc.want)
		}
	}
	for name, shape := range s.byName {
		if shape.Clause == "" {
			t.Errorf("%s stands for no clause", name)
		}
	}
}
