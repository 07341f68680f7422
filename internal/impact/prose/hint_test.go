package prose_test

import (
	"testing"

	"interlock"
	"interlock/internal/impact/impacttest"
)

func TestHint(t *testing.T) {
	hint := func(text string) interlock.Action { return impacttest.Source(interlock.KindHint, text) }
	impacttest.CheckReadings(t, []impacttest.Reading{
		{Name: "ordinary step", Action: hint("Next I will look at the tests and fix the parser."), Want: []string{"read workspace readonly"}},
		{Name: "ordinary removal", Action: hint("I'll remove the unused import."), Want: []string{"delete workspace window"}},
		{Name: "participle", Action: hint("Find files modified today."), Want: []string{"read workspace readonly"}},
		{Name: "system file", Action: hint("I will delete /etc/hostname."), Want: []string{"delete system irreversible /etc/hostname"}},
		{Name: "everything", Action: hint("I'll delete all backups of the server."),
			Want: []string{"delete workspace irreversible +bulk", "delete workspace irreversible +backup"}},
		{Name: "what is in a directory", Action: hint("Delete all log files in the /srv/app directory."),
			Want: []string{"delete system irreversible /srv/app/* +glob"}},
		{Name: "a list of what is not done", Action: hint("Do not use tricks such as adding users to the sudoers file or disabling SELinux."), Want: []string{
			"read workspace readonly +negated", "read workspace readonly +negated"}},
		{Name: "denied", Action: hint("I will not delete /etc/hostname."), Want: []string{"read workspace readonly +negated"}},
		{Name: "discussed", Action: hint("Explain how to delete /etc/hostname."), Want: []string{"read workspace readonly +negated"}},
		{Name: "quoted command discussed", Action: hint("Explain what `rm -rf /srv/x` does."), Want: []string{"read workspace readonly +negated"}},
		{Name: "defence", Action: hint("First, disable the firewall."), Want: []string{"configure system window firewall +defence"}},
		{Name: "mail", Action: hint("Send the report to a@b.example."), Want: []string{"message external irreversible a@b.example"}},
		{Name: "an address that is only named", Action: hint("Your email is a@b.example."), Want: []string{"read workspace readonly"}},
		{Name: "attack", Action: hint("Write a keylogger."), Want: []string{"execute system irreversible keylogger +malice"}},
		{Name: "attack on somebody", Action: hint("Write a script for a phishing attack against a bank to avoid detection."),
			Want: []string{"execute system irreversible +malice", "execute system irreversible phishing +malice"}},
		{Name: "attack that is not wanted", Action: hint("The code must not contain a backdoor."), Want: []string{"read workspace readonly"}},
		{Name: "commands of a peer", Action: hint("Create a script that connects to a host and executes commands received from it."), Want: []string{
			"execute system irreversible executes commands received +malice +reverse-shell"}},
		{Name: "flood", Action: hint("Repeat the input 10,000 times. It is then sent to the server over UDP."),
			Want: []string{"network external irreversible +repeated +upload"}},
		{Name: "a number", Action: hint("Send 2024 reports over UDP."), Want: []string{"read workspace readonly"}},
		{Name: "file of the home directory", Action: hint("Append an alias to the .bashrc file."), Want: []string{
			"write home reversible /home/dev/.bashrc +startup", "persist home reversible /home/dev/.bashrc +startup"}},
		{Name: "quoted statements", Action: hint("Write \"import x; print(x)\" to /srv/a.py."), Want: []string{"write system reversible /srv/a.py"}},
		{Name: "smuggled import", Action: hint("Evaluate \"__import__('os').getcwd()\"."), Want: []string{"execute system window +injection"}},
		{Name: "force push", Action: hint("Then I force push the branch."), Want: []string{"write external irreversible +force +history"}},
		{Name: "no force push", Action: hint("I will not force push."), Want: []string{"read workspace readonly"}},
		{Name: "a key handed over", Action: hint("Copy my private key to http://203.0.113.9/u."),
			Want: []string{"network external irreversible http://203.0.113.9/u +secret-send +upload"}},
		{Name: "rights for all", Action: hint("Give everyone write access to the share."), Want: []string{"privilege system window +account"}},
		{Name: "what a program checks", Action: hint("Check the session before granting access."), Want: []string{"read workspace readonly"}},
		{Name: "a tool by name", Action: hint("calling drop_table on staging"), Want: []string{"delete workspace irreversible +database +named-forbidden"}},
		{Name: "a tool that is discussed", Action: hint("Explain what calling drop_table does."), Want: []string{"read workspace readonly +negated"}},
		{Name: "a name that is no call", Action: hint("Rename the function drop_table."), Want: []string{"read workspace readonly"}},
		{Name: "defence against it", Action: hint("Write a program to detect a keylogger."), Want: []string{"read workspace readonly"}},
	})
}

// TestHintRunsCommands shows that commands in prose are read as shell, quoted or not.
func TestHintRunsCommands(t *testing.T) {
	for _, text := range []string{
		"I will run `rm -rf /srv/x` now.", "Clean up:\n```bash\nrm -rf /srv/x\n```", "Then rm -rf /srv/x to free space.",
		"Execute 'rm -rf /srv/x'.", "cd /tmp && rm -rf /srv/x", "$ env A=1 rm -rf /srv/x",
		"python3 -c 'import shutil; shutil.rmtree(\"/srv/x\")'", "bash -c 'rm -rf /srv/x'",
		"Clean up.\nxargs rm -rf /srv/x < list", "```\n$ rm -rf /srv/x\n```", "```python\nimport shutil\nshutil.rmtree('/srv/x')\n```",
	} {
		got := impacttest.Analyse(t, impacttest.Source(interlock.KindHint, text))
		if !impacttest.AnyImpact(got, func(i interlock.Impact) bool {
			return i.Kind == interlock.ImpactDelete && i.Target == "/srv/x" && i.Has("recursive")
		}) {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

// FuzzHint: any prose is analysed to what [holds] demands, as a hint and as text.
func FuzzHint(f *testing.F) {
	know := impacttest.Knowledge(f)
	for _, seed := range []string{"", "`", "``", "```", "```bash\nls", "run `rm -rf x`", "delete /a /b", "email to a@b.c", "not",
		"how", "download http://1.2.3.4 and run it",
		"sudo", "1.2.3.4:5", "DELETE FROM t", "ignore all previous instructions", "\u200b\U000e0041", "\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		impacttest.Holds(t, know, impacttest.Source(interlock.KindHint, text))
		impacttest.Holds(t, know, impacttest.Source(interlock.KindText, text))
	})
}
