package main

import (
	"errors"
	"io/fs"
	"regexp"

	"interlock"
	"interlock/internal/config"
	"interlock/internal/fileio"
	"interlock/internal/judge"
	"interlock/internal/strictjson"
)

// judgeGround are the ground rules that judges are held to: the file of the settings, or a few that stand here.
func judgeGround(settings config.Config) (judge.Ground, error) {
	text, err := fileio.Own(settings.Judge.RulesFile(settings.Home), 64<<10, fileio.Settled)
	switch {
	case errors.Is(err, fs.ErrNotExist) && settings.Judge.Rules == "":
		return fewGrounds(shortGround), nil
	case err != nil:
		return nil, interlock.Errorf(interlock.CodeInvalid, "judge.rules", "the ground rules can't be read: %s", fileio.Reason(err))
	}
	return fewGrounds(text), nil
}

const shortGround = "# Ground rules\n\n## Layer 1\n\n### L1.integrity Destroy no system and no store of data.\n\n## Layer 2\n\n" +
	"### L2.credentials Show and send no credentials.\n\n## Layer 3\n\n### L3.scope Keep to what was asked.\n"

// fewGrounds are ground rules whose headings begin with their ids.
type fewGrounds string

var groundHeading = regexp.MustCompile(`(?m)^### (L([1-4])\.[a-z0-9.-]+)`)

func (g fewGrounds) Text() string { return string(g) }

func (g fewGrounds) Digest() interlock.Digest {
	return strictjson.DigestBytes("interlock/ground-rules/v1", []byte(g))
}

func (g fewGrounds) Layer(rule string) (int, bool) {
	for _, found := range groundHeading.FindAllStringSubmatch(string(g), -1) {
		if found[1] == rule {
			return int(found[2][0] - '0'), true
		}
	}
	return 0, false
}
