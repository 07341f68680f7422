package config

import (
	"os"
	"path/filepath"
	"strings"
)

// SecretFiles are the files that settings name as where a secret is. They are Interlock's own, wherever they stand: an agent that could
// read one would act without the gate that holds it, and one that could write it would change whom a judge or channel answers to
// (ASA 11.3).
func (c *Config) SecretFiles() (files []string) {
	add := func(reference string) {
		name, is := strings.CutPrefix(strings.TrimPrefix(reference, "Bearer "), "file:")
		if !is {
			return
		}
		if below, home := strings.CutPrefix(name, "~/"); home {
			dir, err := os.UserHomeDir()
			if err != nil {
				return // nor can the secret be read
			}
			name = filepath.Join(dir, below)
		}
		if filepath.IsAbs(name) {
			files = append(files, filepath.Clean(name))
		}
	}
	for n := range c.Judge.Judges {
		add(c.Judge.Judges[n].Key)
	}
	for n := range c.Judge.Reasoning {
		add(c.Judge.Reasoning[n].Key)
	}
	for n := range c.ShipTo {
		add(c.ShipTo[n].Token)
	}
	add(c.OTLPTo.Token)
	for n := range c.Channels {
		for _, reference := range []string{c.Channels[n].URL, c.Channels[n].Key, c.Channels[n].Token, c.Channels[n].Password} {
			add(reference)
		}
	}
	for n := range c.Gateway.Servers {
		for _, reference := range c.Gateway.Servers[n].Env { // any order: a set of paths
			add(reference)
		}
		for _, reference := range c.Gateway.Servers[n].Headers { // any order: a set of paths
			add(reference)
		}
	}
	return files
}
