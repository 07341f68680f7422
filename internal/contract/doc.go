// Package contract holds what agents send each other against JSON Schemas: what a sender's type says that it puts out, and what a
// receiver's type says that it takes in. It knows the part of JSON Schema that says how data is built (types, members, enumerations,
// lengths, ranges, nesting), refuses every other keyword, and is stricter than JSON Schema in two things: a member that a schema does not
// name is refused, and so is null wherever a schema does not name it.
//
// It is a function of its arguments. It never repeats what a value was: reasons go to agents and into the log.
//
// Start with Compile and Check.
package contract
