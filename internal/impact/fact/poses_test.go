package fact

import "testing"

// TestPoses: a name that is neither this user's nor a program's is somebody else's, and no name is nobody's.
func TestPoses(t *testing.T) {
	for who, want := range map[string]bool{
		"Jane Director <jane@corp.example>": true, "The Director": true, "director@corp.example": true, "@director": true,
		"dependabot[bot] <support@github.com>": true, "Mailer-Daemon": true, "Agent Smith": true, "botticelli@corp.example": true,
		"": false, "  ": false, "me": false, "Myself": false, "ann": false, "Ann <ann@example.com>": false, "ANN@example.com": false,
		"Ann Lee <ann.lee@example.com>": false, "ann.lee+work@example.com": false,
		"release-bot": false, "Deploy Bot <deploy@example.com>": false, "no-reply@example.com": false, "Build CI": false,
		"claude-agent <agent@example.com>": false,
	} {
		if got := Poses(who, "ann", "ann.lee"); got != want {
			t.Errorf("%q: %v, want %v", who, got, want)
		}
	}
}

// FuzzPoses: whoever a name names is not somebody else than themselves, and nothing panics.
func FuzzPoses(f *testing.F) {
	f.Add("Jane <jane@corp.example>")
	f.Add("<<@>>")
	f.Fuzz(func(t *testing.T, who string) {
		if Poses(who, who) {
			if name, _, _ := parts(who); plain(who) == name {
				t.Errorf("%q poses as itself", who)
			}
		}
	})
}
