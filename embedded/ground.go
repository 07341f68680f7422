package embedded

import (
	"errors"
	"fmt"
	"io"
	"os"

	"interlock"
	"interlock/internal/config"
	"interlock/internal/fileio"
	"interlock/internal/groundrules"
	"interlock/rules"
)

// GroundRules are the ground rules in force: those that ship, with the operator's where there are any, and these alone.
func GroundRules(c config.Config) (whole, added *groundrules.Rules, err error) {
	file := c.Judge.RulesFile(c.Home)
	if _, err := os.Lstat(file); errors.Is(err, os.ErrNotExist) && c.Judge.Rules == "" {
		file = ""
	}
	return GroundRulesWith(file)
}

// GroundRulesWith are the ground rules that ship with those that a file adds, and the added ones alone. An empty name adds none.
func GroundRulesWith(file string) (whole, added *groundrules.Rules, err error) {
	shipped, err := groundrules.Parse(rules.GroundRules())
	if err != nil {
		return nil, nil, fmt.Errorf("the ground rules that ship can't be read: %w", err)
	}
	if file == "" {
		return shipped, nil, nil
	}
	text, err := readGround(file)
	if err != nil {
		return nil, nil, err
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
