// A program of your own that is an MCP client (@modelcontextprotocol/sdk): every call of a tool is decided before it is sent.
// Where the client is not yours to change, `interlock install gateway` puts its servers behind the gateway instead.
import { Interlock } from "interlock-client";

const interlock = new Interlock();

/** The client, with callTool guarded. `server` is what the tools' names begin with in rules, as `mcp__notes__delete`. */
export function guarded(client, server) {
  const call = client.callTool.bind(client);
  client.callTool = (params, ...rest) =>
    interlock.guard(() => call(params, ...rest), {
      tool: `mcp__${server}__${params.name}`,
      arguments: () => params.arguments ?? {},
    })();
  return client;
}
