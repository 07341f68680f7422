package prose_test

import (
	"testing"

	"interlock"
	"interlock/internal/impact/impacttest"
)

// TestPlainHint: what goes outward, costs money, runs for others or gives rights counts in prose, and what names nothing is not
// understood; sentences of a day's work beside them are left alone.
func TestPlainHint(t *testing.T) {
	hint := func(text string) interlock.Action { return impacttest.Source(interlock.KindHint, text) }
	nothing, read := []string{"execute system window +vague ?"}, []string{"read workspace readonly"}
	impacttest.CheckReadings(t, []impacttest.Reading{
		{Name: "no object", Action: hint("doing something"), Want: nothing},
		{Name: "a command", Action: hint("Running a command."), Want: nothing},
		{Name: "a file", Action: hint("writing a file"), Want: nothing},
		{Name: "the next step", Action: hint("I'll continue with the next step"), Want: nothing},
		{Name: "an object", Action: hint("run the tests"), Want: read},
		{Name: "another object", Action: hint("Fix the parser."), Want: read},
		{Name: "production", Action: hint("deploy to production"), Want: []string{"configure production window"}},
		{Name: "production later in a sentence", Action: hint("Now I will deploy the new version to prod"), Want: []string{"configure production window"}},
		{Name: "a build for production", Action: hint("Update the production build."), Want: read},
		{Name: "staging", Action: hint("Deploy the app to staging."), Want: read},
		{Name: "people", Action: hint("Notify all customers of the change."), Want: []string{"message external irreversible +bulk"}},
		{Name: "a table of people", Action: hint("Send the query for the users table."), Want: read},
		{Name: "a package", Action: hint("publish the package to npm"), Want: []string{"network external window +publish"}},
		{Name: "release notes", Action: hint("Publish the release notes draft locally."), Want: read},
		{Name: "in public", Action: hint("share the customer list publicly"), Want: []string{"network external irreversible +publish +upload"}},
		{Name: "a public method", Action: hint("Share the public method with the subclass."), Want: read},
		{Name: "money", Action: hint("book a flight for 900 EUR"), Want: []string{"spend external window"}},
		{Name: "money with a sign", Action: hint("Then purchase three seats for $2,400."), Want: []string{"spend external window"}},
		{Name: "no money", Action: hint("Book the meeting room at 9."), Want: read},
		{Name: "rights", Action: hint("revoke Bob's access"), Want: []string{"privilege external window +account"}},
		{Name: "modes of a file", Action: hint("Grant read permission on /srv/a.txt to jane."), Want: read},
		{Name: "denied", Action: hint("I will not deploy to production."), Want: read},
		{Name: "discussed", Action: hint("Explain how to deploy to production."), Want: read},
		{Name: "a program", Action: hint("Write a function to email all customers."), Want: read},
	})
}
