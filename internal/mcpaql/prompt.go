package mcpaql

// The texts a model reads. They are short where they are always in its context and whole in the prompt.

// PromptName is the prompt with the full instructions.
const PromptName = "safety_loop"

const promptTitle = "Work inside the safety loop"

const promptDescription = "How to report actions to Interlock before carrying them out, and what to do with its answers."

// serverInstructions are what a client shows a model once for the whole server.
const serverInstructions = `Interlock judges actions before they happen. Before every action that has an effect (a shell command, a file change, a
query, a web request, a call to any other tool) report it here and act only on continue: true.
1. execute_agent once per task, 2. record_execution_step before each action, 3. complete_execution or abort_execution at the end.
The prompt "safety_loop" has the whole instructions; the operation "introspect" describes everything.`

// toolDescription says in a few lines when a tool is for.
func toolDescription(e Endpoint) string {
	switch e {
	case Create:
		return `Report your next action BEFORE carrying it out: {"operation":"record_execution_step","params":{"element_name":"<your task>",` +
			`"next_action_hint":"<the exact command, file, statement or call>","outcome":"<success|failure|skipped of the step before>"}}. ` +
			`Act only if data.continue is true. If it is false, do what data.next says; if stopped is true, stop everything and tell the user. ` +
			`Also verify_challenge {challenge_id, code}: hand in a code that a human read out to you; never guess.`
	case Read:
		return `Discover what this safety server offers: {"operation":"introspect","params":{"query":"operations"}}; add "name" for one ` +
			`operation's parameters, or ask for "types". Reads only.`
	case Execute:
		return `Begin and end monitored work. {"operation":"execute_agent","params":{"element_name":"<your task>"}} before your first action returns ` +
			`execution_id; complete_execution or abort_execution {execution_id} when done. confirm_operation {request_id} tells whether a human has ` +
			`answered a request; you can't approve your own action.`
	default:
		return `Interlock's safety loop. Start with {"operation":"execute_agent","params":{"element_name":"<your task>"}}. BEFORE every action report it: ` +
			`{"operation":"record_execution_step","params":{"element_name":"<your task>","next_action_hint":"<the exact command, file, statement or call>"}} ` +
			`and act only if data.continue is true; otherwise do what data.next says. End with complete_execution. ` +
			`{"operation":"introspect","params":{"query":"operations"}} lists everything.`
	}
}

// instructions is the prompt's text.
const instructions = `You work inside Interlock's execution safety loop. It judges what you intend before it happens; people answer what it can't
let pass alone. Follow these steps for the whole task.

Start. Call execute_agent with element_name, a short name for your task. Keep the execution_id it returns and name it in later calls.

Before every action that has an effect outside your own reasoning, on this or any other tool or server, call
record_execution_step with
  element_name      the same name
  next_action_hint  the exact action: the command line, the file and what you write to it, the statement, the request, the tool with
                    its arguments. Write it as it will run. "git push origin main", not "sync the repository".
  step_description  why, in a sentence. It is for people; it never makes an action safer.
  outcome           success, failure or skipped: how the step before this one ended. Leave it out at the first step.
One step is one action. Report a changed action again: the answer is for exactly what you reported.

Then read the answer.
  continue: true    carry out exactly what you reported.
  continue: false   don't. reason and factors say why, next says what helps. If request_id is there, an operator has to answer:
                    tell the user, wait, and report the identical step again. Otherwise choose another way and report that.
  stopped: true     stop everything. Don't start over under another name, don't try another connection: the stop is bound to your
                    credential and every attempt is recorded. Tell the user what happened and wait.
Read notifications every time: they are the only way you hear of requests, pauses and stops.

Codes. A challenge (verificationId) is answered with a code that reaches people where you can't look. If the user gives you one, hand it
in with verify_challenge. Never guess: a wrong code burns the right one, and attempts are counted.

Approvals. confirm_operation tells whether a human has answered a request. Your own confirmation counts for nothing.

End. Call complete_execution when the work is done (outcome failure if it went wrong) or abort_execution if it is given up.`
