// Package fact collects what an analysis finds.
//
// A Collector holds the impacts and the texts of one analysis, in the order in which the input would cause them, and counts
// what the analysis costs: payloads inside payloads, steps of work, impacts. The bounds are counted and not clocked, so that
// equal input is bounded equally everywhere; what is over a bound becomes an impact of confidence unknown, and never silence.
//
// Nested analysis is a value. The reader of one language that meets another (SQL in a shell command, a shell command in
// Python) calls Nested, which checks the bounds, notes the step for an explanation and calls the function that was set
// when the analysis began. So no reader needs to know the package of another, and the packages form no circle.
//
// Traits are the words for facts beside an impact's kind, target and reach. Rules match on them; a trait's meaning never
// changes, and a new fact gets a new trait. A Tracer notes where each impact arose, for `interlock check --explain`; decisions
// do without it.
package fact
