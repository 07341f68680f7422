// Package mace holds a program against the MACE safety boundaries, clause by clause, as package conform holds it against others: through the
// doors of throw-away homes that a council governs.
//
// Start with town.go, which makes such a home; each other file is an area of the specification.
package mace
