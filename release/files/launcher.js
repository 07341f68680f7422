#!/usr/bin/env node
// Starts the interlock program of the package that fits this system, and ends as it ends.
"use strict"
const { spawn } = require("node:child_process")
const path = require("node:path")

const name = `interlock-${process.platform}-${process.arch}`
let program
try {
  const dir = path.dirname(require.resolve(`${name}/package.json`))
  program = path.join(dir, "bin", process.platform === "win32" ? "interlock.exe" : "interlock")
} catch {
  console.error(`interlock: the package ${name}, which holds the program for this system, is not installed; ` +
    "install without --omit=optional, or take an archive for your system")
  process.exit(1)
}
const child = spawn(program, process.argv.slice(2), { stdio: "inherit", windowsHide: true })
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal))
child.on("error", (error) => {
  console.error(`interlock: ${program} does not start: ${error.message}`)
  process.exit(1)
})
child.on("exit", (code, signal) => {
  if (signal) {
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  } else process.exit(code)
})
