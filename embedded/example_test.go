package embedded_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"interlock"
	"interlock/embedded"
)

// A program proposes before it acts, acts only on an allow, and reports what acting did.
func Example() {
	home, err := os.MkdirTemp("", "interlock-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(home)
	ctx := context.Background()

	backend, err := embedded.Open(ctx, embedded.Config{Home: home})
	if err != nil {
		log.Fatal(err)
	}
	guard, err := interlock.New(interlock.Config{Backend: backend, Requester: interlock.Requester{Agent: "release-bot"}})
	if err != nil {
		log.Fatal(err)
	}
	defer guard.Close()

	for _, command := range []string{"git status", "git push --force origin main", "rm -rf /"} {
		answer := guard.Propose(ctx, interlock.Proposal{
			Action: interlock.Action{Kind: interlock.KindShell, Input: command, Dir: "/repo"},
			CanAsk: true,
		})
		fmt.Println(command, "->", answer.Answer)
		if answer.Answer.Allowed() {
			// … run it here, then say what came of it.
			err := guard.Report(ctx, interlock.Requester{}, interlock.Outcome{Event: answer.Event, Status: interlock.OutcomeSuccess})
			if err != nil {
				log.Fatal(err)
			}
		}
	}
	// Output:
	// git status -> allow
	// git push --force origin main -> ask
	// rm -rf / -> deny
}

// Where nobody can be asked, an ask is answered with a refusal that names the request a human can approve.
func Example_approval() {
	home, err := os.MkdirTemp("", "interlock-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(home)
	backend, err := embedded.Open(context.Background(), embedded.Config{Home: home, Unattended: true})
	if err != nil {
		log.Fatal(err)
	}
	guard, err := interlock.New(interlock.Config{Backend: backend, Requester: interlock.Requester{Agent: "release-bot"}})
	if err != nil {
		log.Fatal(err)
	}
	defer guard.Close()
	answer := guard.Propose(context.Background(), interlock.Proposal{
		Action: interlock.Action{Kind: interlock.KindShell, Input: "git push --force origin main", Dir: "/repo"},
	})
	fmt.Println(answer.Verdict, answer.Answer, answer.Request != "")
	// Output: ask deny true
}
