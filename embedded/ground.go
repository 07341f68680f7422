package embedded

import (
	"errors"
	"fmt"
	"io"

	"interlock"
	"interlock/internal/fileio"
	"interlock/internal/groundrules"
	"interlock/rules"
)

// GroundRulesWith are the ground rules that ship with those that a file adds, and the added ones alone. An empty name adds none.
func GroundRulesWith(file string) (whole, added *groundrules.Rules, err error) {
	if file == "" {
		whole, err = shippedGround()
		return whole, nil, err
	}
	text, err := readGround(file)
	if err != nil {
		return nil, nil, err
	}
	return groundOf(file, text, false)
}

// shippedGround are the ground rules that ship.
func shippedGround() (*groundrules.Rules, error) {
	shipped, err := groundrules.Parse(rules.GroundRules())
	if err != nil {
		return nil, fmt.Errorf("the ground rules that ship can't be read: %w", err)
	}
	return shipped, nil
}

// groundOf are the ground rules that ship with those that a text adds, or these alone.
func groundOf(file string, text []byte, alone bool) (whole, added *groundrules.Rules, err error) {
	shipped, err := shippedGround()
	if err != nil || alone {
		return shipped, nil, err
	}
	if added, err = groundrules.ParseAdded(text); err != nil {
		return nil, nil, InFile(file, err)
	}
	if whole, err = shipped.With(added); err != nil {
		return nil, nil, InFile(file, err)
	}
	return whole, added, nil
}

// InFile puts the name of a file before an error of its text.
func InFile(file string, err error) error {
	var known *interlock.Error
	if errors.As(err, &known) {
		return interlock.Errorf(known.Code, file+": "+known.Field, "%s", known.Message)
	}
	return err
}

func readGround(file string) ([]byte, error) {
	opened, err := fileio.Open(file)
	if err != nil {
		return nil, interlock.Errorf(interlock.CodeNotFound, file, "it can't be read: %s", fileio.Reason(err))
	}
	defer opened.Close()
	text, err := io.ReadAll(io.LimitReader(opened, groundrules.MaxBytes+1))
	if err != nil {
		return nil, interlock.Errorf(interlock.CodeInvalid, file, "it can't be read: %s", fileio.Reason(err))
	}
	return text, nil
}
