package advice

import "testing"

func TestCommandsNameTheirHome(t *testing.T) {
	for text, want := range map[string]string{
		"interlock approve 7":                             "interlock --home /h approve 7",
		"interlock approve 7 && interlock approve 8":      "interlock --home /h approve 7 && interlock --home /h approve 8",
		"it waits; `interlock pending` lists it":          "it waits; `interlock --home /h pending` lists it",
		"run: interlock install claude, or another":       "run: interlock --home /h install claude, or another",
		"interlock --profile guard …":                     "interlock --home /h --profile guard …",
		"interlock --home /x pending":                     "interlock --home /x pending",
		"see interlock version":                           "see interlock version",
		"/opt/interlock doctor":                           "/opt/interlock doctor",
		"the interlock program is missing":                "the interlock program is missing",
		"an interlock upsets nobody; no command is in it": "an interlock upsets nobody; no command is in it",
		"nothing of it":                                   "nothing of it",
		"(interlock doctor)\ninterlock up\n":              "(interlock --home /h doctor)\ninterlock --home /h up\n",
	} {
		if got := Commands(text, "/h"); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
		if got := Commands(text, ""); got != text {
			t.Errorf("without a home %q became %q", text, got)
		}
	}
}

func TestAPathIsQuotedWhereAShellWantsIt(t *testing.T) {
	for path, want := range map[string]string{
		"/home/ann/.local": "/home/ann/.local",
		"/my files/it's":   `'/my files/it'\''s'`,
		"":                 "''",
		`C:\Users\ann b`:   `"C:\Users\ann b"`,
	} {
		if got := Quoted(path); got != want {
			t.Errorf("%q became %s, want %s", path, got, want)
		}
	}
}
