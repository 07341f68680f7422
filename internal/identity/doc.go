// Package identity makes and checks the two kinds of credential Interlock knows, and keeps them apart.
//
// Agents carry bearer tokens: "ilk_" and 256 random bits. Only the SHA-256 of a token is ever stored. Operators carry SSH
// keys: an operator's answer is an armored SSHSIG in the namespace "interlock-approval", which
//
//	ssh-keygen -Y verify -f allowed_signers -I NAME -n interlock-approval -s statement.sig < statement
//
// checks without Interlock, and which "ssh-keygen -Y sign -n interlock-approval" can make without Interlock. No
// credential is both, and nothing here says who may do what: that is package quorum's.
//
// Randomness comes in as an io.Reader. Nothing here logs, and no error holds a token, a passphrase or key material.
//
// Start with token.go for agents, key.go and signer.go for operators.
package identity
