package evidence

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"interlock/internal/mcpaql/published"
)

// What of an answer the checks below look at. Whether it is as published is for the published shapes to say.
type (
	operationInfo struct {
		Name        string `json:"name"`
		Category    string `json:"semantic_category"`
		Endpoint    string `json:"endpoint"`
		Description string `json:"description"`
	}
	typeInfo struct {
		Name        string `json:"name"`
		Kind        string `json:"kind"`
		Description string `json:"description"`
	}
	parameterInfo struct {
		Name        *string         `json:"name"`
		Type        *string         `json:"type"`
		Required    *bool           `json:"required"`
		Description string          `json:"description"`
		Default     json.RawMessage `json:"default"`
		Enum        []any           `json:"enum"`
		Minimum     *float64        `json:"minimum"`
		Maximum     *float64        `json:"maximum"`
		MinLength   *int            `json:"minLength"`
		MaxLength   *int            `json:"maxLength"`
		Pattern     string          `json:"pattern"`
		Format      string          `json:"format"`
		Items       map[string]any  `json:"items"`
		Sensitive   bool            `json:"sensitive"`
	}
	operationDetail struct {
		operationInfo
		Tool        string                 `json:"mcpTool"`
		Permissions map[string]bool        `json:"permissions"`
		Parameters  []parameterInfo        `json:"parameters"`
		Returns     typeInfo               `json:"returns"`
		Examples    []json.RawMessage      `json:"examples"`
		Lifecycle   map[string]interface{} `json:"lifecycle"`
	}
	result struct {
		Success *bool           `json:"success"`
		Data    json.RawMessage `json:"data"`
		Error   *failure        `json:"error"`
		Results []struct {
			Index     *int            `json:"index"`
			Operation string          `json:"operation"`
			Result    json.RawMessage `json:"result"`
		} `json:"results"`
		Summary map[string]int `json:"summary"`
	}
	failure struct {
		Code    string         `json:"code"`
		Message *string        `json:"message"`
		Details map[string]any `json:"details"`
	}
)

var (
	categories = []string{"CREATE", "READ", "UPDATE", "DELETE", "EXECUTE"}
	kinds      = []string{"enum", "object", "scalar", "union"}
	snakeCase  = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	codeForm   = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)
	// leaks are what the runner takes for a trace of the implementation. The fourth is wide: no message may have a word that
	// ends in "at" before another.
	leaks = []*regexp.Regexp{regexp.MustCompile(`(?i)typeerror`), regexp.MustCompile(`(?i)referenceerror`), regexp.MustCompile(`(?i)syntaxerror`),
		regexp.MustCompile(`(?i)at\s+\S+`), regexp.MustCompile(`(?i)/src/`), regexp.MustCompile(`(?i)/node_modules/`), regexp.MustCompile(`(?i)\.[tj]s:\d+`)}
)

func strict(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}

// Faults holds a bundle against what the specification's conformance runner checks at level 2, and returns what it would
// object to, warnings included. The runner itself belongs to the specification's repository; this is its list, in our words.
func Faults(b Bundle) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	details := introspectionFaults(b, add)
	parameterFaults(b, details, add)
	errorFaults(b, add)
	roundTripFaults(b, add)
	if b.SpecVersion != "1.0.0-draft" || b.ExpectedLevel != 2 || b.ExpectedExitCode != 0 {
		add("the claim is version %s, level %d, exit status %d", b.SpecVersion, b.ExpectedLevel, b.ExpectedExitCode)
	}
	if !slices.Equal(b.EndpointModes, []string{"crude", "single", "semantic"}) || !b.Capabilities.FieldSelection || !b.Capabilities.BatchOperations {
		add("features of level 2: %v %+v", b.EndpointModes, b.Capabilities)
	}
	if fault := resultFault(b.BatchExample); fault != "" {
		add("batch example: %s", fault)
	}
	fits(b.BatchExample, "BatchResult", add)
	var batch result
	if err := json.Unmarshal(b.BatchExample, &batch); err != nil || len(batch.Results) == 0 || batch.Summary["total"] != len(batch.Results) {
		add("the batch example is no batch: %s", b.BatchExample)
	}
	return out
}

// fits holds an answer against a published shape.
func fits(raw json.RawMessage, shape string, add func(string, ...any)) {
	shapes, err := published.Load()
	if err != nil {
		add("%v", err)
	}
	for _, fault := range shapes.Check(shape, raw) {
		add("%s", fault)
	}
}

func introspectionFaults(b Bundle, add func(string, ...any)) map[string]operationDetail {
	var list struct {
		Success bool
		Data    struct {
			Protocol   map[string]any  `json:"_protocol"`
			Operations []operationInfo `json:"operations"`
		}
	}
	if err := strict(b.Introspection.OperationsList, &list); err != nil || !list.Success || len(list.Data.Operations) == 0 {
		add("operations list: %v", err)
	}
	if mode := list.Data.Protocol["mode"]; mode != "single" { // of the names, the one that no draft of the schema refuses
		add("operations list: mode %v", mode)
	}
	for _, o := range list.Data.Operations {
		if !o.sound() {
			add("operations list: %+v", o)
		}
	}
	fits(b.Introspection.OperationsList, "IntrospectionSuccess", add)
	fits(b.Introspection.TypesList, "IntrospectionSuccess", add)
	for _, raw := range b.Introspection.OperationDetails {
		fits(raw, "OperationDetails", add)
	}
	var types struct {
		Success bool
		Data    struct{ Types []typeInfo }
	}
	if err := strict(b.Introspection.TypesList, &types); err != nil || !types.Success || len(types.Data.Types) == 0 {
		add("types list: %v", err)
	}
	for _, t := range types.Data.Types {
		if t.Name == "" || !slices.Contains(kinds, t.Kind) {
			add("types list: %+v", t)
		}
	}
	details := map[string]operationDetail{}
	for _, raw := range b.Introspection.OperationDetails {
		var d operationDetail
		if err := strict(raw, &d); err != nil {
			add("details: %v in %s", err, raw)
			continue
		}
		details[d.Name] = d
		_, readOnly := d.Permissions["readOnly"]
		_, destructive := d.Permissions["destructive"]
		if !d.sound() || d.Tool == "" || !readOnly || !destructive || len(d.Permissions) != 2 || d.Parameters == nil ||
			d.Returns.Name == "" || !slices.Contains(kinds, d.Returns.Kind) {
			add("details of %s: %+v", d.Name, d)
		}
		var documented []string
		for _, p := range d.Parameters {
			if p.Name == nil || p.Type == nil || p.Required == nil || !snakeCase.MatchString(*p.Name) {
				add("details of %s: parameter %+v", d.Name, p)
				continue
			}
			documented = append(documented, *p.Name)
		}
		slices.Sort(documented)
		if accepted := slices.Sorted(slices.Values(b.AcceptedParameters[d.Name])); !slices.Equal(documented, accepted) {
			add("%s documents %v and accepts %v", d.Name, documented, accepted)
		}
	}
	if len(details) != len(list.Data.Operations) {
		add("%d operations, %d details", len(list.Data.Operations), len(details))
	}
	return details
}

func (o operationInfo) sound() bool {
	return o.Name != "" && o.Description != "" && slices.Contains(categories, o.Category) && o.Endpoint == strings.ToLower(o.Category)
}

func parameterFaults(b Bundle, details map[string]operationDetail, add func(string, ...any)) {
	find := func(list []ParameterTest, operation, name string) (result, bool) {
		for _, test := range list {
			if test.Operation == operation && (name == "" || test.Parameter == name) {
				var r result
				err := json.Unmarshal(test.Response, &r)
				return r, err == nil && r.Success != nil && !*r.Success && r.Error != nil && r.Error.Message != nil &&
					strings.Contains(*r.Error.Message, test.Parameter)
			}
		}
		return result{}, false
	}
	for name, d := range details {
		for _, p := range d.Parameters {
			if !*p.Required {
				continue
			}
			if r, ok := find(b.ParameterTests.MissingRequired, name, *p.Name); !ok || r.Error.Code != "VALIDATION_MISSING_PARAM" {
				add("leaving out %s of %s: %+v", *p.Name, name, r)
			}
		}
		if r, ok := find(b.ParameterTests.UnknownParameter, name, ""); !ok || r.Error.Code != "VALIDATION_UNKNOWN_PARAM" {
			add("an unknown parameter of %s: %+v", name, r)
		}
		for _, p := range d.Parameters {
			shown := slices.ContainsFunc(b.ParameterTests.OptionalDefaults, func(test DefaultTest) bool {
				return test.Operation == name && test.Parameter == *p.Name
			})
			if (len(p.Default) > 0) != shown {
				add("the default of %s in %s is shown: %t", *p.Name, name, shown)
			}
		}
	}
	for _, test := range b.ParameterTests.OptionalDefaults {
		if got := at(test.Response, test.ExpectedPath); got != test.ExpectedValue {
			add("the default of %s in %s shows as %v, want %v", test.Parameter, test.Operation, got, test.ExpectedValue)
		}
	}
}

func errorFaults(b Bundle, add func(string, ...any)) {
	if len(b.ErrorTests) < 15 {
		add("only %d mistakes were made", len(b.ErrorTests))
	}
	for _, test := range b.ErrorTests {
		if fault := resultFault(test.Response); fault != "" {
			add("%s: %s", test.Name, fault)
			continue
		}
		var r result
		if err := json.Unmarshal(test.Response, &r); err != nil || r.Error == nil {
			add("%s is no failure: %s", test.Name, test.Response)
			continue
		}
		for _, leak := range leaks {
			if leak.MatchString(*r.Error.Message) {
				add("%s: %q looks like %s", test.Name, *r.Error.Message, leak)
			}
		}
		for _, mention := range test.MustMention {
			if !strings.Contains(*r.Error.Message, mention) {
				add("%s: %q does not mention %q", test.Name, *r.Error.Message, mention)
			}
		}
	}
}

func roundTripFaults(b Bundle, add func(string, ...any)) {
	if len(b.RoundTripTests) == 0 || len(b.ConstraintTests) == 0 {
		add("%d round trips, %d constraints", len(b.RoundTripTests), len(b.ConstraintTests))
	}
	for _, test := range b.RoundTripTests {
		for path, want := range test.ExpectedFields {
			if got := at(test.ReadResponse, path); got != want || want == nil {
				add("%s: %s is %v, want %v", test.Name, path, got, want)
			}
		}
	}
	for _, test := range b.ConstraintTests {
		var r result
		if err := json.Unmarshal(test.Response, &r); err != nil || r.Success == nil || *r.Success || r.Error == nil || !test.Documented {
			add("constraint %s, documented %t: %s", test.Name, test.Documented, test.Response)
		}
	}
}

// resultFault holds an answer against the schema of results: data or an error, never both, and nothing else.
func resultFault(raw json.RawMessage) string {
	fault := ""
	fits(raw, "OperationResult", func(format string, args ...any) { fault = fmt.Sprintf(format, args...) })
	if fault != "" {
		return fault
	}
	var r result
	if err := strict(raw, &r); err != nil {
		return err.Error()
	}
	switch {
	case r.Success == nil:
		return "no success"
	case !*r.Success && (r.Error == nil || r.Error.Message == nil || !codeForm.MatchString(r.Error.Code) || r.Data != nil):
		return fmt.Sprintf("a failure of another form: %s", raw)
	case *r.Success && (r.Data == nil || r.Error != nil):
		return fmt.Sprintf("a success of another form: %s", raw)
	}
	for _, one := range r.Results {
		if one.Index == nil {
			return "a result without an index"
		}
		if fault := resultFault(one.Result); fault != "" {
			return fault
		}
	}
	return ""
}

// at follows a path with dots into an answer.
func at(raw json.RawMessage, path string) any {
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return err
	}
	for _, step := range strings.Split(path, ".") {
		switch v := value.(type) {
		case map[string]any:
			value = v[step]
		case []any:
			n, err := strconv.Atoi(step)
			if err != nil || n < 0 || n >= len(v) {
				return nil
			}
			value = v[n]
		default:
			return nil
		}
	}
	return value
}
