// Package groundrules reads the ground rules that a judge holds actions against: Markdown that people write and read, in the four
// layers of the Asimov Safety Architecture (ASA 6, 9.3). It parses strictly, gives one canonical text that is exactly what a judge is
// sent, and a digest of that text. It resolves what several rules say of one action (ASA 13), lints what is vague (9.3), and adds an
// operator's own rules to those that ship without letting them take any away (8.3, 16.4).
//
// The form:
//
//	# Title
//	What the document is about.
//	## Conflicts
//	Which rule prevails.
//	## Layer 1: Base laws
//	### L1.integrity Protect systems
//	What the rule says.
//	Allowed:
//	- an example
//	Disallowed:
//	- an example
//	Instead: what an agent can offer.
//
// Layers are numbered 1 to 4 and stand in that order. A rule's id is L, its layer, optionally the number of a sub-layer, and a name:
// L2.credentials, L2.1.credentials (ASA 19.2). Sub-layers stand in their order, after rules without one. "(conditional)" at the end of
// a title says that a denial by this rule is a question to a person (ASA appendix A.2). Names of an operator's rules begin with own-.
package groundrules
