// The client of the recipe before a server with one tool, which runs what it is given.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { execFileSync } from "node:child_process";
import { z } from "zod";
import { guarded } from "./recipe.mjs";

const server = new McpServer({ name: "notes", version: "1" });
server.registerTool("run_command", { description: "runs", inputSchema: { command: z.string() } }, ({ command }) => ({
  content: [{ type: "text", text: execFileSync("sh", ["-c", command], { encoding: "utf8" }) }],
}));
const [near, far] = InMemoryTransport.createLinkedPair();
const client = guarded(new Client({ name: "agent", version: "1" }), "notes");
await Promise.all([server.connect(far), client.connect(near)]);
for (const command of process.argv.slice(2)) {
  try {
    const result = await client.callTool({ name: "run_command", arguments: { command } });
    console.log(JSON.stringify(result.content[0].text));
  } catch (problem) {
    console.log(JSON.stringify(problem.message));
  }
}
console.log("done");
process.exit();
