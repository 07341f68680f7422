import { spawn } from "node:child_process"

// In milliseconds, and longer than the longest deadline by which the command itself answers.
const patience = 40_000

// run has the command of an event read a payload, and gives back how it ended and what it said.
function run(event, payload) {
  return new Promise((resolve, reject) => {
    const [program, ...args] = commands[event]
    const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"], windowsHide: true })
    const timer = setTimeout(() => {
      child.kill("SIGKILL")
      reject(new Error(`${program} did not answer within ${patience / 1000} s`))
    }, patience)
    let out = ""
    let said = ""
    child.stdout.setEncoding("utf8").on("data", (text) => (out += text))
    child.stderr.setEncoding("utf8").on("data", (text) => (said += text))
    child.stdin.on("error", () => {}) // it may answer before it has read everything
    child.on("error", (error) => {
      clearTimeout(timer)
      reject(error)
    })
    child.on("close", (status) => {
      clearTimeout(timer)
      resolve({ status, out, said })
    })
    child.stdin.end(JSON.stringify({ event, ...payload }))
  })
}

// judge returns only with an allow. Whatever else there is instead of one is thrown, and then OpenCode does not run the tool.
async function judge(payload) {
  let answer
  try {
    const { status, out } = await run("tool.execute.before", payload)
    if (status !== 0) throw new Error(`the hook ended with status ${status}`)
    answer = JSON.parse(out)
  } catch (error) {
    const mend = error?.code === "ENOENT"
      ? "Its program is gone or was moved: a human puts it back there, or sets a new one up with interlock setup, or removes this plugin"
      : "A human can look for the cause with: interlock doctor"
    throw new Error(`[hook.plugin] Interlock gave no answer, so nothing runs: ${error?.message}. ${mend}`)
  }
  if (answer?.verdict === "allow") return answer
  throw new Error(answer?.reason || "[hook.plugin] Interlock gave no answer that can be read, so nothing runs.")
}

// put makes the arguments what they should be, in the object that the tool is run with.
function put(args, wanted) {
  for (const name of Object.keys(args)) delete args[name]
  Object.assign(args, wanted)
}

// How long a message of the user's waits for being taken note of, in milliseconds, and how much of a text is handed on.
const moment = 1500
const most = 1 << 20

// listen hands on what the user says. It stops nothing, whatever becomes of it. In a session that another began, it is that
// one's agent who speaks and not the user.
async function listen(client, sessionID, directory, parts) {
  const said = (parts ?? []).filter((part) => part.type === "text" && !part.synthetic && !part.ignored)
  const prompt = said.map((part) => part.text).join("\n").slice(0, most)
  if (!prompt) return
  const session = await client.session.get({ path: { id: sessionID } })
  if (!session?.data || session.data.parentID) return
  await run("chat.message", { sessionID, directory, prompt })
}

export const Interlock = async ({ client, directory }) => ({
  "chat.message": async ({ sessionID }, output) => {
    const late = new Promise((resolve) => setTimeout(resolve, moment))
    await Promise.race([listen(client, sessionID, directory, output?.parts).catch(() => {}), late])
  },
  "tool.execute.before": async ({ tool, sessionID, callID }, output) => {
    const answer = await judge({ tool, sessionID, callID, directory, args: output.args ?? {} })
    if (answer.args) put(output.args, answer.args)
  },
  "tool.execute.after": async ({ tool, sessionID, callID, args }, output) => {
    const exit = output?.metadata?.exit
    const result = typeof output?.output === "string" ? output.output.slice(0, most) : undefined
    try {
      const { status, said } = await run("tool.execute.after", { tool, sessionID, callID, directory, args: args ?? {}, exit, output: result })
      if (status !== 0) throw new Error(said.trim() || `the hook ended with status ${status}`)
    } catch (error) {
      // The tool has run: there is nothing to stop any more, only to tell.
      const message = `the outcome of a call is not recorded: ${error?.message}`
      await client.app.log({ body: { service: "interlock", level: "error", message } }).catch(() => {})
    }
  },
})
