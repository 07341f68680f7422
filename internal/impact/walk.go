package impact

// A walk is where the reader of a shell's script is. Scripts of several shells stand inside one another, and what is in one
// goes on in the other.
type walk struct {
	s      *scan
	src    string   // the text being walked
	stack  []string // directories pushed
	steps  int      // commands, functions and substitutions around this one
	loops  int      // loops being walked whose values are followed one by one
	rounds int      // loops being walked, of any kind
	many   bool     // something is done, or was made, a great many times
	socket bool     // a network connection is held open as a file descriptor
}
