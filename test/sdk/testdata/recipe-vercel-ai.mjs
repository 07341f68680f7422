// The tool of the recipe, on a model that calls it with each command and then ends.
import { generateText, stepCountIs } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { shell } from "./recipe.mjs";

const commands = process.argv.slice(2);
const usage = { inputTokens: { total: 0 }, outputTokens: { total: 0 } };
let step = 0;
const model = new MockLanguageModelV4({
  doGenerate: async () => {
    const command = commands[step++];
    return command === undefined
      ? { content: [{ type: "text", text: "done" }], finishReason: { unified: "stop" }, usage, warnings: [] }
      : {
          content: [{ type: "tool-call", toolCallId: `c${step}`, toolName: "shell", input: JSON.stringify({ command }) }],
          finishReason: { unified: "tool-calls" }, usage, warnings: [],
        };
  },
});
const result = await generateText({ model, tools: { shell }, prompt: "go", stopWhen: stepCountIs(10) });
for (const { content } of result.steps) {
  for (const part of content) {
    if (part.type === "tool-result") console.log(JSON.stringify(part.output));
    if (part.type === "tool-error") console.log(JSON.stringify(part.error.message));
  }
}
console.log(result.text);
process.exit();
