package evidence

import "encoding/json"

// A Bundle is what the conformance runner reads. Answers are kept as the server sent them.
type Bundle struct {
	Implementation     string              `json:"implementation"`
	Version            string              `json:"version"`
	SpecVersion        string              `json:"spec_version"`
	ExpectedLevel      int                 `json:"expected_level"`
	ExpectedExitCode   int                 `json:"expected_exit_code"` // of the runner: the one thing here that is a claim
	EndpointModes      []string            `json:"endpoint_modes"`
	Capabilities       Capabilities        `json:"capabilities"`
	Introspection      Introspection       `json:"introspection"`
	AcceptedParameters map[string][]string `json:"accepted_parameters"`
	ParameterTests     ParameterTests      `json:"parameter_tests"`
	ErrorTests         []ErrorTest         `json:"error_tests"`
	RoundTripTests     []RoundTripTest     `json:"round_trip_tests"`
	UpdateTests        []json.RawMessage   `json:"update_preservation_tests"`
	ConstraintTests    []ConstraintTest    `json:"constraint_tests"`
	SemanticTests      []json.RawMessage   `json:"semantic_tests"`
	BatchExample       json.RawMessage     `json:"batch_example"`
	Absent             map[string]string   `json:"absent_evidence"` // why a kind of evidence is empty
}

// Capabilities are what the operations list says is offered.
type Capabilities struct {
	FieldSelection  bool `json:"field_selection"`
	BatchOperations bool `json:"batch_operations"`
}

// Introspection holds the lists as they were answered, and each operation's details without the envelope.
type Introspection struct {
	OperationsList   json.RawMessage   `json:"operations_list"`
	TypesList        json.RawMessage   `json:"types_list"`
	OperationDetails []json.RawMessage `json:"operation_details"`
}

// ParameterTests show how missing, unknown and omitted parameters are answered.
type ParameterTests struct {
	MissingRequired  []ParameterTest `json:"missing_required"`
	UnknownParameter []ParameterTest `json:"unknown_parameter"`
	OptionalDefaults []DefaultTest   `json:"optional_defaults"`
}

// A ParameterTest is the answer to a call with one parameter left out or too many.
type ParameterTest struct {
	Operation string          `json:"operation"`
	Parameter string          `json:"parameter"`
	Response  json.RawMessage `json:"response"`
}

// A DefaultTest is the answer to a call without an optional parameter, and what shows that its default was taken.
type DefaultTest struct {
	Operation     string          `json:"operation"`
	Parameter     string          `json:"parameter"`
	Response      json.RawMessage `json:"response"`
	ExpectedPath  string          `json:"expected_value_path"`
	ExpectedValue any             `json:"expected_value"`
}

// An ErrorTest is the answer to a mistake, and what its message has to name for the caller to mend it.
type ErrorTest struct {
	Name        string          `json:"name"`
	Response    json.RawMessage `json:"response"`
	MustMention []string        `json:"must_mention"`
}

// A RoundTripTest is what is read back after something was submitted, and which fields have to be as submitted.
type RoundTripTest struct {
	Name           string          `json:"name"`
	ReadResponse   json.RawMessage `json:"read_response"`
	ExpectedFields map[string]any  `json:"expected_fields"`
}

// A ConstraintTest is the answer to a value outside a constraint, and whether introspection tells of it.
type ConstraintTest struct {
	Name       string          `json:"name"`
	Response   json.RawMessage `json:"response"`
	Documented bool            `json:"documented"`
}
