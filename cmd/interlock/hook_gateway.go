package main

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"

	"interlock/internal/config"
	"interlock/internal/fileio"
	"interlock/internal/hook"
	"interlock/internal/lineage"
)

// hookGateway tells whether a call goes to this home's own gateway, which then asks instead of the hook. Nothing of it is
// taken on trust from what the agent could have written: the client's settings have to hold exactly what `interlock install
// gateway` wrote, and nothing else of the name; the client must have been started without flags that bring servers of their own;
// and the gateway has to run as its child. A hook with settings of its own decides by others than the gateway does.
func (p *program) hookGateway() func(context.Context, hook.Call) bool {
	if g := p.globals; g.Config != "" || g.RulesDir != "" || g.Profile != "" || g.Mode != "" {
		return nil
	}
	return func(_ context.Context, call hook.Call) bool {
		home := p.globals.Home
		if home == "" {
			var err error
			if home, err = config.DefaultHome(p.getenv); err != nil {
				return false
			}
		}
		client, running := lineage.Claude()
		return running && filepath.IsAbs(home) && p.boundToGateway(call, home, client)
	}
}

func (p *program) boundToGateway(call hook.Call, home string, running lineage.Process) bool {
	place := p.place("")
	client, id := clientIn("claude-code", place)
	text, err := fileio.Plain(filepath.Join(config.ClientDir(home), id+".undo"+secretSuffix), maxClientFile)
	var record moveRecord
	if err != nil || json.Unmarshal(text, &record) != nil || record.Path != client.Settings(place) {
		return false
	}
	dirs := []string{call.Dir(), running.Dir()}
	if project := p.getenv("CLAUDE_PROJECT_DIR"); project != "" {
		dirs = append(dirs, project)
	}
	if slices.ContainsFunc(dirs, func(dir string) bool { return !filepath.IsAbs(dir) }) {
		return false
	}
	argv, err := client.Bound(place, call.Server(), record.After, dirs)
	return err == nil && slices.Equal(argv[1:], []string{"gateway", "--client", id, "--home", home}) && running.HasChild(argv)
}
