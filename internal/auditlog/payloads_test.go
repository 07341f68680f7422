package auditlog_test

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"interlock/internal/auditlog"
)

var update = flag.Bool("update", false, "write testdata/payloads.golden again")

// eachRecord are empty records of all types.
var eachRecord = []auditlog.Record{
	auditlog.AccessRecord{}, auditlog.AccountRecord{}, auditlog.ActionRecord{}, auditlog.AlertRecord{}, auditlog.ApprovalRecord{},
	auditlog.ArchiveRecord{}, auditlog.BindingRecord{}, auditlog.BreakerRecord{}, auditlog.BudgetRecord{},
	auditlog.CauseRecord{}, auditlog.ChallengeRecord{}, auditlog.CheckpointRecord{}, auditlog.DecisionRecord{},
	auditlog.DryRunRecord{}, auditlog.ExecutionRecord{}, auditlog.ExpiryRecord{}, auditlog.GrantRecord{},
	auditlog.GroundRulesRecord{}, auditlog.HoldRecord{}, auditlog.IdentityRecord{}, auditlog.InstalledRecord{},
	auditlog.IntegrityRecord{}, auditlog.IntegritySummary{}, auditlog.JudgeAskedRecord{}, auditlog.JudgeTestedRecord{},
	auditlog.JudgedAfterRecord{}, auditlog.KillRecord{}, auditlog.LossRecord{}, auditlog.MendRecord{},
	auditlog.MemoryRecord{}, auditlog.MessageRecord{}, auditlog.NodeRecord{}, auditlog.OutcomeRecord{}, auditlog.PersonalRecord{}, auditlog.PhaseRecord{},
	auditlog.PinRecord{}, auditlog.PlanRecord{}, auditlog.ProbeRecord{}, auditlog.PromotionRecord{},
	auditlog.RateRecord{}, auditlog.RedteamRecord{}, auditlog.RefusalRecord{}, auditlog.ReplayRequestRecord{},
	auditlog.ReplayResultRecord{}, auditlog.ReportRecord{}, auditlog.RollbackRecord{}, auditlog.RunChangedRecord{},
	auditlog.RunPausedRecord{}, auditlog.RunRecord{}, auditlog.SecondedRecord{}, auditlog.SessionRecord{},
	auditlog.SettingsRecord{}, auditlog.SettledRecord{}, auditlog.ShadowRecord{}, auditlog.SignalRecord{},
	auditlog.SuppressionRecord{}, auditlog.TextRecord{}, auditlog.TokenRecord{}, auditlog.TriageRecord{},
	auditlog.TrustRecord{}, auditlog.TurnRecord{}, auditlog.UnlockRecord{}, auditlog.UsageRecord{},
	auditlog.VerificationRecord{}, auditlog.WatchedRecord{},
}

// What is in a log stays as it was written: the payload of every type of record, with all sorts of values in its fields, is byte
// for byte what the golden file names by its hash.
func TestPayloadsAreWhatTheyWere(t *testing.T) {
	const golden = "testdata/payloads.golden"
	var have strings.Builder
	for _, empty := range eachRecord {
		kind := reflect.TypeOf(empty)
		fmt.Fprintf(&have, "%s %s\n", kind.Name(), described(empty))
		draws := rand.New(rand.NewSource(1)) // the same values every time
		for n := range 40 {
			value := reflect.New(kind).Elem()
			draw(value, draws, n > 0, n >= 30)
			fmt.Fprintf(&have, "%s %d %s\n", kind.Name(), n, described(value.Interface().(auditlog.Record)))
		}
	}
	if *update {
		if err := os.WriteFile(golden, []byte(have.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(have.String(), "\n")
	for n, line := range strings.Split(string(want), "\n") {
		if n >= len(lines) || lines[n] != line {
			t.Errorf("line %d: have %s, want %s", n+1, append(lines, "nothing")[min(n, len(lines))], line)
		}
	}
	if len(lines) != strings.Count(string(want), "\n")+1 {
		t.Error("the golden file has another number of lines; -update writes it, and a change of a line that is there changes the log")
	}
}

// described is a payload by its length and its hash, or what is wrong with the record.
func described(r auditlog.Record) string {
	payload, err := r.Payload()
	if err != nil {
		what, _, _ := strings.Cut(err.Error(), ": /") // which of several fields is named first is no matter
		return what
	}
	return fmt.Sprintf("%d %.8x", len(payload), sha256.Sum256(payload))
}

// draw fills a value; with holes, about half of what can be left empty is. With long texts it has some that records cut.
func draw(v reflect.Value, r *rand.Rand, holes, long bool) {
	if holes && r.Intn(2) == 0 {
		return
	}
	if v.Type() == reflect.TypeFor[time.Time]() {
		v.Set(reflect.ValueOf(time.Unix(r.Int63n(1<<32), r.Int63n(3)*1000).In(time.FixedZone("", 3600*r.Intn(2)))))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(r.Int63n(9))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(r.Intn(3))) // the vocabulary's numbers have names, and not all of them many
	case reflect.String:
		texts := []string{"plain", "a \"quoted\"\n\x01 one", "<&>\u2028\x7f", "\u00e9\U0001f600\ufb33", "not \xff UTF-8"}
		text := texts[r.Intn(len(texts)-1)]
		if long {
			text = strings.Repeat(texts[r.Intn(len(texts))], 1+r.Intn(60)*r.Intn(60))
		}
		v.SetString(text)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		draw(v.Elem(), r, holes, long)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte([]string{`{"a":1}`, `{"b": 1e2,"a":"\u00e9"}`}[r.Intn(2)]))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1+r.Intn(3), 9))
		for n := range v.Len() {
			draw(v.Index(n), r, holes, long)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range 1 + r.Intn(3) {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			draw(key, r, false, false)
			draw(value, r, holes, long)
			v.SetMapIndex(key, value)
		}
	case reflect.Struct:
		for n := range v.NumField() {
			if v.Type().Field(n).IsExported() {
				draw(v.Field(n), r, holes, long)
			}
		}
	}
}
