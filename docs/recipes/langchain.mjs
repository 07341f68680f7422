// LangChain (@langchain/core): a tool whose calls are decided before they run.
import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { tool } from "@langchain/core/tools";
import { Interlock } from "interlock-client";
import { z } from "zod";

const interlock = new Interlock();

export const shell = tool(
  interlock.guard(
    async ({ command }) => (await promisify(execFile)("sh", ["-c", command])).stdout,
    { kind: "shell", input: ({ command }) => command, dir: process.cwd() },
  ),
  { name: "shell", description: "Run a command in the project.", schema: z.object({ command: z.string() }) },
);
