// OpenAI Agents SDK (@openai/agents): a tool whose calls are decided before they run.
import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { Agent, tool } from "@openai/agents";
import { Interlock, Refused } from "interlock-client";
import { z } from "zod";

const interlock = new Interlock();

const shell = tool({
  name: "shell",
  description: "Run a command in the project.",
  parameters: z.object({ command: z.string() }),
  execute: interlock.guard(
    async ({ command }) => (await promisify(execFile)("sh", ["-c", command])).stdout,
    { kind: "shell", input: ({ command }) => command, dir: process.cwd() },
  ),
  // The model learns why a call was refused, and what would help.
  errorFunction: (_context, problem) => (problem instanceof Refused ? problem.message : "the tool failed"),
});

export const agent = (model) => new Agent({ name: "builder", instructions: "Build the project.", model, tools: [shell] });
