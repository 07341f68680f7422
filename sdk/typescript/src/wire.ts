import * as http from "node:http";
import * as https from "node:https";

/** No answer came, or none that can be read. The text holds no token. */
export class WireError extends Error {}

const maxAnswer = 8 << 20;

export interface Place {
  url?: string;
  token?: string;
  socket?: string;
}

export type Members = Record<string, unknown>;

/** Sends bodies to one server. Redirects are not followed. */
export class Wire {
  readonly #token: string | undefined;
  readonly #base: URL;
  readonly #socket: string | undefined;

  constructor(place: Place) {
    this.#token = place.token;
    this.#socket = place.socket;
    this.#base = new URL(place.socket === undefined ? (place.url ?? "") : "http://localhost");
    if (!["http:", "https:"].includes(this.#base.protocol) || this.#base.username || this.#base.search || this.#base.hash) {
      throw new TypeError("the address of Interlock is one such as http://127.0.0.1:7433");
    }
  }

  async post(path: string, body: Members, timeoutMs: number): Promise<{ status: number; body: Members }> {
    let data: string;
    try {
      data = JSON.stringify(body);
    } catch (problem) {
      throw new WireError(`the action can't be written as JSON: ${(problem as Error).message}`);
    }
    const { status, text } = await this.#exchange(path, data, timeoutMs);
    let answer: unknown;
    try {
      answer = JSON.parse(text);
    } catch {
      throw new WireError(`what answered with status ${status} is not Interlock`);
    }
    if (typeof answer !== "object" || answer === null || Array.isArray(answer)) {
      throw new WireError("Interlock's answer is no object");
    }
    return { status, body: answer as Members };
  }

  #exchange(path: string, data: string, timeoutMs: number): Promise<{ status: number; text: string }> {
    const headers: Record<string, string> = {
      "Content-Type": "application/json",
      "Content-Length": String(Buffer.byteLength(data)),
      Accept: "application/json",
    };
    if (this.#token) headers["Authorization"] = `Bearer ${this.#token}`;
    const options: https.RequestOptions = { method: "POST", headers, agent: false, signal: AbortSignal.timeout(timeoutMs) };
    if (this.#socket !== undefined) options.socketPath = this.#socket;
    const target = new URL(this.#base.pathname.replace(/\/+$/, "") + path, this.#base);
    const send = target.protocol === "https:" ? https.request : http.request;
    return new Promise((resolve, reject) => {
      const away = (problem: Error & { code?: string }) =>
        reject(new WireError(`Interlock can't be reached (${problem.code ?? problem.name})`));
      const request = send(target, options, (response) => {
        const parts: Buffer[] = [];
        let size = 0;
        response.on("error", away);
        response.on("data", (part: Buffer) => {
          size += part.length;
          parts.push(part);
          if (size > maxAnswer) {
            reject(new WireError("Interlock's answer is too long"));
            response.destroy();
          }
        });
        response.on("close", () => {
          if (!response.complete) away(Object.assign(new Error("cut off"), { code: "cut off" }));
        });
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString("utf8") }));
      });
      request.on("error", away);
      request.end(data);
    });
  }
}
