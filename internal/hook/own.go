package hook

import (
	"encoding/json"

	"interlock"
	"interlock/internal/strictjson"
)

// own reads the tools by which a harness directs itself: its agents speak to each other, look at what is under way, wake it
// up later. Names like theirs would mean something else at an MCP server, whose tools never go by a bare name; what such an
// agent then does comes by here again, call by call.
func (u use) own() (actions []interlock.Action, own bool, err error) {
	if u.harness != "claude" {
		return nil, false, nil
	}
	switch u.tool {
	case "SendMessage": // before the call it is there twice, afterwards only as the model wrote it
		actions, err = u.itself("to", "message")
	case "SendUserMessage":
		actions, err = u.itself("message", "attachments")
	case "CronList", "CronDelete":
		actions, err = u.itself("id")
	case "CronCreate":
		if u.input.has("durable") && !u.input.falsity("durable") {
			return nil, false, nil // it outlives the session
		}
		actions, err = u.itself("cron", "prompt")
	case "Monitor":
		if u.input.has("command") || !u.input.has("ws") {
			return nil, false, nil
		}
		actions, err = u.socket()
	default:
		return nil, false, nil
	}
	return actions, true, err
}

// itself is a call of the harness's own, judged as its work on a task, with those of its arguments that say what it does.
func (u use) itself(names ...string) ([]interlock.Action, error) {
	if err := u.input.only(names...); err != nil {
		return nil, err
	}
	members := map[string]json.RawMessage{"called": json.RawMessage(`"` + u.tool + `"`)}
	for _, name := range names {
		if u.input.has(name) {
			members[name] = u.input[name]
		}
	}
	arguments, err := strictjson.Marshal(members)
	if err != nil {
		return nil, unreadable(err)
	}
	return []interlock.Action{{Kind: interlock.KindTool, Tool: "Task", Arguments: arguments, Dir: u.dir}}, nil
}

// socket is the address of a WebSocket that is listened to.
func (u use) socket() ([]interlock.Action, error) {
	ws, err := u.input.sub("ws")
	if err != nil {
		return nil, err
	}
	if err := ws.only("url"); err != nil {
		return nil, err
	}
	url, err := ws.text("url")
	if err != nil {
		return nil, err
	}
	if url == "" {
		return nil, interlock.Errorf(interlock.CodeInvalid, "/ws/url",
			"is missing: %q listens to an address and the payload holds none", u.tool)
	}
	return use{tool: u.tool, dir: u.dir, input: object{"url": ws["url"]}}.fetch()
}
