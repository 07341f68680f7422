// Package prose reads what people and models write: the next step an agent announces, and text that is nothing but text.
//
// In a hint, commands, code, tools and paths that are named are analysed as what they are. Sentences around them are read for a
// verb, what it is done to, and whether it is really said to be done: denied, asked, discussed or told of the past it is not.
// Prose proves nothing, so all that is read from it is inferred, and a hint can raise a question and never answer one.
//
// Text is looked at for orders to a model (package inject) and otherwise does nothing.
package prose
