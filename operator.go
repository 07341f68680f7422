package interlock

import "time"

// An OperatorRecord is a human who may answer requests. Never an agent; no credential is both.
type OperatorRecord struct {
	Name      string     `json:"name"`
	Role      string     `json:"role"`                // viewer, operator, admin, council, auditor, superadmin
	Teams     []string   `json:"teams,omitempty"`     // that rules may name as approvers
	SSHKey    string     `json:"ssh_key,omitempty"`   // public key in authorized_keys form; for the command line
	Passkeys  []Passkey  `json:"passkeys,omitempty"`  // for the console
	Enrolment *Enrolment `json:"enrolment,omitempty"` // a one-time link that has not been used
	Created   time.Time  `json:"created"`
	Since     time.Time  `json:"since,omitzero"` // when they were given their role, where that was later
	Revoked   time.Time  `json:"revoked,omitzero"`
}

// A Passkey is a WebAuthn credential of an operator: the public half, and what tells a copy from the original.
type Passkey struct {
	ID         string    `json:"id"`         // credential id, unpadded base64url
	PublicKey  string    `json:"public_key"` // COSE key, unpadded base64url
	Algorithm  int64     `json:"algorithm"`  // COSE algorithm, e.g. -7 for ES256
	SignCount  uint32    `json:"sign_count"`
	Backup     bool      `json:"backup_eligible,omitempty"` // the key may live on several devices
	RelyingID  string    `json:"relying_party"`             // the host name it was made for
	Name       string    `json:"name"`                      // what its owner calls it
	Transports []string  `json:"transports,omitempty"`
	Created    time.Time `json:"created"`
}

// An Enrolment lets the one who has the link's secret register one passkey for an operator, once.
type Enrolment struct {
	Hash    string    `json:"hash"` // SHA-256 of the secret
	Expires time.Time `json:"expires"`
}
