package main

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"time"

	"interlock"
	"interlock/internal/identity"
	"interlock/internal/quorum"
)

// newOrder makes an operator's order as of now, unsigned.
func newOrder(verb interlock.Verb, subject, detail, reason string) (interlock.Order, error) {
	id := make([]byte, 8)
	if _, err := io.ReadFull(rand.Reader, id); err != nil {
		return interlock.Order{}, fmt.Errorf("reading randomness: %w", err)
	}
	at := now().UTC().Truncate(time.Second)
	return interlock.Order{ID: "ord_" + hex.EncodeToString(id), Verb: verb, Subject: subject, Detail: detail, Reason: reason,
		At: at, Expires: at.Add(quorum.MaxOrder / 2)}, nil
}

// signOrder fills in the operator and, where the order loosens something, the proof by an SSH key.
func (p *program) signOrder(standing interlock.Standing, as, key string, about interlock.Requester,
	order *interlock.Order) error {
	if !order.Verb.Loosens() && as != "" {
		order.Operator = as
		return nil
	}
	answer := answerFlags{As: as, Key: key}
	signer, name, err := answer.operator(p, standing, "in office")
	if err != nil {
		return err
	}
	defer signer.Close()
	if err := quorum.MayOrder(order.Verb, about, standing.Operators[name], standing.Agents, now()); err != nil {
		return err
	}
	return signWith(signer, name, order)
}

// signWith signs an order with an operator's key.
func signWith(signer *identity.Signer, operator string, order *interlock.Order) (err error) {
	order.Operator, order.Method, order.Key = operator, interlock.MethodSSH, signer.PublicKey().Fingerprint()
	order.Statement = quorum.OrderStatement(*order)
	order.Signature, err = signer.SignApproval(rand.Reader, order.Statement)
	return err
}
