package conform

import "strings"

// undriven are clauses that tests prove and that no check drives through the doors yet: they are said to be pending. A check that is added takes
// its clauses from here.
func undriven() []string { return strings.Fields("") }

// asaUndriven are those of the Asimov Safety Architecture.
func asaUndriven() []string { return strings.Fields("") }
