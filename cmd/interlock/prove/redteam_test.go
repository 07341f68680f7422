package prove

import (
	"testing"
	"time"

	"interlock"
	"interlock/embedded"
	"interlock/internal/auditlog"
	"interlock/internal/config"
	"interlock/internal/ledger"
	"interlock/spec"
)

// TestRedteamOnSchedule: a run is due where the newest one of the schedule is older than the settings want, by the log and not by what
// this process remembers, and each period has a seed of its own. Runs by hand don't count.
func TestRedteamOnSchedule(t *testing.T) {
	spec.Covers(t, "MACE-9.2-1")
	settings := config.Defaults()
	settings.Home = t.TempDir()
	settings.Redteam = config.Redteam{Every: config.Duration(168 * time.Hour), Cases: 14}
	backend, err := embedded.OpenBrief(t.Context(), settings)
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Close()
	if err := backend.RedteamReported(t.Context(), auditlog.RedteamRecord{Seed: 1, Passed: true}); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	for n, at := range []time.Duration{0, time.Minute, 167 * time.Hour, 169 * time.Hour} {
		if err := redteamDue(t.Context(), backend, 168*time.Hour, began.Add(at)); err != nil {
			t.Fatal(err)
		}
		want := 1
		if n == 3 {
			want = 2
		}
		entries, err := backend.Store.Entries(t.Context(), interlock.EventRedteam, ledger.Before(-1, 10))
		if err != nil {
			t.Fatal(err)
		}
		seeds := map[uint64]bool{}
		for _, e := range entries {
			report, _, err := auditlog.RedteamOf(e)
			if err != nil {
				t.Fatal(err)
			}
			if report.Scheduled {
				seeds[report.Seed] = true
				if report.Cases <= 14 || len(report.Sets) == 0 || report.Families[0].Cases != 2 || !report.Passed {
					t.Errorf("%+v", report)
				}
			}
		}
		if len(entries) != want+1 || len(seeds) != want {
			t.Errorf("after %s: %d reports and %d seeds, want %d and %d", at, len(entries), len(seeds), want+1, want)
		}
	}
}
