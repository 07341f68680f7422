package mace

import (
	"context"
	"net/http"
	"strings"

	"interlock/internal/conform"
)

func memoryChecks() []conform.Check {
	return []conform.Check{
		{IDs: []string{"MACE-S-03", "MACE-2-1"}, Drives: "HTTP API, the council's commands, log", Do: stableFact},
		{IDs: []string{"MACE-2-2"}, Drives: "HTTP API, the council's commands, log", Do: promotedFact},
	}
}

// memory sends an agent's request to its memory.
func (t town) memory(ctx context.Context, verb string, body map[string]any) conform.Reply {
	return t.Call(ctx, "scout", http.MethodPost, "/v1/memory/"+verb, body)
}

func stableFact(ctx context.Context, d *conform.Driver) (string, error) {
	t, err := common(ctx, d)
	if err != nil {
		return "", err
	}
	key := map[string]any{"key": "project/repo/main/mirror"}
	put := t.memory(ctx, "put", map[string]any{"key": key["key"], "value": "mirror.acme.org", "store": "semantic",
		"because": "everybody needs it"})
	id := put.Member("request_id")
	early, before := t.refused(ctx, "adam", "the request is pending", "request", "execute", id), t.memory(ctx, "get", key)
	if err := t.settled(ctx, id); err != nil {
		return "", err
	}
	after, written := t.memory(ctx, "get", key), t.newest(ctx, "sem_put", "project/repo/main/mirror")
	removal, err := t.asks(ctx, "adam", "sem_delete", "project/repo/main/mirror", "it moved")
	if err != nil {
		return "", err
	}
	stays := t.memory(ctx, "get", key)
	if err := t.settled(ctx, removal); err != nil {
		return "", err
	}
	gone, cut := t.memory(ctx, "get", key), t.newest(ctx, "sem_delete", "project/repo/main/mirror")
	return "a stable fact is there only after three of the council approved it, and is gone only after they did again: " +
			written.by() + ", " +
			cut.by(), conform.First(early, written.is("sem_put"), cut.is("sem_delete"),
			conform.Unless(before.Member("outcome") == "SEM_NOT_FOUND", "before the vote: %s", before.Text),
			conform.Unless(strings.Contains(after.Text, "mirror.acme.org") && strings.Contains(stays.Text, "mirror.acme.org"),
				"after it: %s, then %s", after.Text, stays.Text),
			conform.Unless(gone.Member("outcome") == "SEM_NOT_FOUND", "after it was deleted: %s", gone.Text))
}

func promotedFact(ctx context.Context, d *conform.Driver) (string, error) {
	t, err := common(ctx, d)
	if err != nil {
		return "", err
	}
	key := map[string]any{"key": "project/repo/main/editor"}
	t.memory(ctx, "put", map[string]any{"key": key["key"], "value": "uses vim", "source": "web:forum.example"})
	asked := t.memory(ctx, "promote", key)
	id, store := asked.Member("request_id"), "facts.0.store"
	before := t.memory(ctx, "get", key)
	shown := t.CLI(ctx, "", "request", "show", id)
	if err := t.settled(ctx, id); err != nil {
		return "", err
	}
	after := t.memory(ctx, "get", key)
	return "an episodic fact becomes stable only by the council, which sees where it comes from (" + id + ")", conform.First(
		conform.Unless(before.Member(store) == "episodic" && after.Member(store) == "semantic", "before: %s, after: %s", before.Text,
			after.Text),
		conform.Unless(strings.Contains(shown.Out, "episodic_promotion") && strings.Contains(shown.Out, `"source"`),
			"the council is shown %s", shown.Out))
}
