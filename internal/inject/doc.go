// Package inject finds what is written to be obeyed by a model and not to be read by a person: orders in text that a tool
// returned, in a page, in a file or in the definition of a tool.
//
// Two questions are answered. Injected says whether a text carries such orders: somebody is told to ignore what was said
// before, to take a role, to keep quiet about something, to send or run something that the text's reader never asked for.
// DefinitionSigns says which parts of a tool's definition speak to the model about anything but the tool: its other tools,
// secrets, what the user must not hear, characters nobody sees.
//
// Words decide, as sentences use them, and not single phrases: who is addressed, what is asked of them, and whether somebody
// only tells of it. Disguises are taken off first: look-alike letters, letters that nothing shows, letters with signs between
// them, text that is encoded once. Nothing here can prove intent, so a sign is a finding to be weighed, never a verdict, and
// honest text about attacks passes as far as it can be told apart.
//
// It is a leaf: a function of text, without files, clock or state, linear in the length of its input. The analysis of actions
// and the classifier of results both stand on it.
package inject
