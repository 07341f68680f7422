// The agent of the recipe, on a model that calls its tool with each command and then ends.
import { run, Usage } from "@openai/agents";
import { agent } from "./recipe.mjs";

const commands = process.argv.slice(2);
const usage = new Usage();
const model = {
  async getResponse({ input }) {
    const results = typeof input === "string" ? [] : input.filter((item) => item.type === "function_call_result");
    if (results.length > 0) console.log(JSON.stringify(results.at(-1).output.text ?? results.at(-1).output));
    const next = commands[results.length];
    if (next === undefined) {
      return { usage, output: [{ type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: "done" }] }] };
    }
    const call = { type: "function_call", callId: `c${results.length}`, name: "shell", arguments: JSON.stringify({ command: next }), status: "completed" };
    return { usage, output: [call] };
  },
  async *getStreamedResponse() {},
};
const result = await run(agent(model), "go");
console.log(result.finalOutput);
process.exit();
