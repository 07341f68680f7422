package judge

// What tests look at from outside.
var (
	ParseAnswer = parseAnswer
	Fence       = fence
	Clean       = clean
)
