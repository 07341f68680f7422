// Package identity makes and checks the two kinds of credential Interlock knows, and keeps them apart.
//
// Agents carry bearer tokens: "ilk_" and 256 random bits. Only the SHA-256 of a token is ever stored. Operators carry SSH
// keys: an operator's answer is an armored SSHSIG in the namespace "interlock-approval", which
//
//	ssh-keygen -Y verify -f allowed_signers -I NAME -n interlock-approval -s statement.sig < statement
//
// checks without Interlock, and which "ssh-keygen -Y sign -n interlock-approval" can make without Interlock. In the console
// they use passkeys: the challenge of a WebAuthn assertion is the SHA-256 of the statement, and what is stored of it is
// enough to check it again. Where a person spoke to the server itself, by a session or a code, the server's key attests it.
// Over HTTP agents may also come with an access token of a configured OAuth issuer or a client certificate. Such an agent's name
// begins with the issuer's and a colon, which no registered agent with a token has, so that neither can act as the other.
// No credential is an agent's and an operator's, and nothing here says who may do what: that is package quorum's.
//
// Randomness comes in as an io.Reader. Nothing here logs, and no error holds a token, a passphrase or key material.
//
// Start with token.go for agents, credential.go for those of other authorities, key.go, signer.go and passkey.go for operators,
// proof.go for what proves their words.
package identity
