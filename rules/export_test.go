package rules

// Documents takes a bundle apart, as Defaults does with the one in the program.
func Documents(bundle []byte) map[string][]byte {
	documents := map[string][]byte{}
	each(bundle, func(name, _ string, document []byte) { documents[name] = document })
	return documents
}
