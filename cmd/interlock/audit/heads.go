package audit

import (
	"context"
	"fmt"

	"interlock/cmd/interlock/cli"
	"interlock/embedded"
	"interlock/internal/auditlog"
	"interlock/internal/fileio"
	"interlock/internal/harness"
	"interlock/internal/hook"
	"interlock/internal/store"
	"interlock/internal/witness"
)

// HeldHeads are the heads of a log that are held beside a harness's settings.
func HeldHeads(p *cli.Program, agent, origin string) []witness.Head {
	return harness.HeldHeads(cli.UserHome(p.Getenv), agent, origin)
}

// NewsOf is a checkpoint that this process was handed, with what shows that it goes on from the heads held.
func NewsOf(ctx context.Context, backend *embedded.Backend, checkpoint []byte, held []witness.Head) witness.News {
	news := witness.News{Checkpoint: checkpoint, Held: held}
	newest, readable := witness.ParseHead(checkpoint)
	if !readable {
		return news
	}
	for _, head := range held {
		var proof witness.Proof
		hashes, err := auditlog.ProveConsistency(ctx, backend.Store, max(head.Size, newest.Size), min(head.Size, newest.Size))
		if err == nil {
			proof = witness.Proof(hashes)
		}
		news.Proofs = append(news.Proofs, proof)
	}
	return news
}

// AlertHistories is the kind of alert about a log that does not go on from what was seen of it.
const AlertHistories = "two-histories"

// SaysDisagreement says in an answer, to its reader, that the log does not go on from what the harness has seen of it. The
// first time it is an alert as well, and both heads are kept. The answer holds: what it was decided from is what there is.
func SaysDisagreement(ctx context.Context, p *cli.Program, backend *embedded.Backend, call hook.Call, out hook.Output,
	news *witness.News) hook.Output {
	if _, _, yes := news.Contradicted(); !yes || len(news.Checkpoint) == 0 {
		return out
	}
	said := "the log is not the one that was seen before"
	if apart, err := Histories(ctx, p, backend.Store, backend.Key); err == nil && len(apart) > 0 {
		said = apart[0].String()
	}
	home := cli.UserHome(p.Getenv)
	if first, err := harness.KeepContradiction(home, call.Agent, news); err == nil && first {
		_ = backend.Alarm(ctx, AlertHistories, call.Agent+": "+said) // the answer says it anyway
	}
	out.Stderr = append(out.Stderr, fmt.Sprintf("[hook.histories] %s; `interlock doctor` says more\n", said)...)
	return out
}

// Histories holds every head that hooks have kept of a log against the log, and says where two histories part.
func Histories(ctx context.Context, p *cli.Program, log store.Log, key *auditlog.PublicKey) ([]auditlog.Disagreement, error) {
	head, err := log.Head(ctx)
	if err != nil || head.Size == 0 {
		return nil, err
	}
	now, err := key.OpenCheckpoint(head.Checkpoint)
	if err != nil {
		return nil, err
	}
	var kept []auditlog.Checkpoint
	for _, signed := range keptCheckpoints(p, key) {
		if one, err := key.OpenCheckpoint(signed); err == nil {
			kept = append(kept, one)
		}
	}
	return auditlog.Histories(ctx, log, now, kept)
}

// keptCheckpoints are the ones that hooks left beside the harnesses' settings, as far as they are this log's: a log that was cut back
// or has gone on from elsewhere is found by them without being asked. Files that don't open with the key are doctor's to report.
func keptCheckpoints(p *cli.Program, key *auditlog.PublicKey) [][]byte {
	home := cli.UserHome(p.Getenv)
	if home == "" {
		return nil
	}
	var kept [][]byte
	for _, name := range harness.All() {
		for _, file := range harness.KeptFiles(home, name) {
			signed, err := fileio.Plain(file, 64<<10)
			if err != nil {
				continue
			}
			if _, err := key.OpenCheckpoint(signed); err == nil {
				kept = append(kept, signed)
			}
		}
	}
	return kept
}
