package secret

// SeedWords is the list as it is decoded.
func SeedWords() []string { return seedList() }
