package httpapi

// AppendAnswer lets the outside test hold the encoder against the general one.
var AppendAnswer = appendAnswer
