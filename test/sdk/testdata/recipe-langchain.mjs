// The tool of the recipe, called as a model's calls are.
import { shell } from "./recipe.mjs";

for (const command of process.argv.slice(2)) {
  try {
    const message = await shell.invoke({ type: "tool_call", id: "c1", name: "shell", args: { command } });
    console.log(JSON.stringify(message.content));
  } catch (problem) {
    console.log(JSON.stringify(problem.message));
  }
}
console.log("done");
process.exit();
