package flow

// A Walk is where the reader of a shell's script is. Scripts of several shells stand inside one another, and what is in one
// goes on in the other.
type Walk struct {
	S      *Scan
	Src    string   // the text being walked
	Stack  []string // directories pushed
	Steps  int      // commands, functions and substitutions around this one
	Loops  int      // loops being walked whose values are followed one by one
	Rounds int      // loops being walked, of any kind
	Many   bool     // something is done, or was made, a great many times
	Socket bool     // a network connection is held open as a file descriptor
}
