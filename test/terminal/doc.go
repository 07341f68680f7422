// Package terminal gives a program a terminal of its own and plays the person who sits there: it types back what the program asks
// to have typed back. Tests use it to do what takes a person, in the way a person does it.
package terminal
