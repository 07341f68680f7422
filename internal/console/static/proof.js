// Recomputes an event's place in the signed log from what the page holds, with the browser's own cryptography: the leaf's
// hash from the event's bytes, the root from the path (RFC 6962), and the checkpoint's signature (Ed25519). It trusts the
// key that the page names: compare that with a copy kept elsewhere.
"use strict";
(() => {
  const raw = (base64) => Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const hex = (bytes) => Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
  const join = (...parts) => {
    const out = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
    let at = 0;
    for (const p of parts) { out.set(p, at); at += p.length; }
    return out;
  };
  const sha = async (...parts) => new Uint8Array(await crypto.subtle.digest("SHA-256", join(...parts)));
  const equal = (a, b) => a.length === b.length && a.every((byte, i) => byte === b[i]);
  const utf8 = (text) => new TextEncoder().encode(text);
  const leaf = (event) => sha(Uint8Array.of(0), event);
  const node = (left, right) => sha(Uint8Array.of(1), left, right);

  // The root a path leads to, as RFC 9162 2.1.3.2 verifies an inclusion proof; null if the path can't be of this tree.
  const root = async (hash, index, size, path) => {
    let fn = BigInt(index), sn = BigInt(size) - 1n;
    if (fn > sn) return null;
    for (const p of path) {
      if (sn === 0n) return null;
      if (fn & 1n || fn === sn) {
        hash = await node(p, hash);
        while (!(fn & 1n) && fn !== 0n) { fn >>= 1n; sn >>= 1n; }
      } else {
        hash = await node(hash, p);
      }
      fn >>= 1n; sn >>= 1n;
    }
    return sn === 0n ? hash : null;
  };

  // Whether the key signed the checkpoint: true, false, or null where this browser can't tell.
  const signed = async (note, keyText) => {
    const end = note.lastIndexOf("\n\n");
    const text = note.slice(0, end + 1);
    const [, name, encoded] = /^([^+ ]+)\+[0-9a-f]{8}\+(.+)$/.exec(keyText);
    const line = note.slice(end + 2).split("\n").find((l) => l.startsWith("— " + name + " "));
    if (!line) return false;
    const signature = raw(line.slice(line.lastIndexOf(" ") + 1)).slice(4);
    try {
      const key = await crypto.subtle.importKey("raw", raw(encoded).slice(1), { name: "Ed25519" }, false, ["verify"]);
      return await crypto.subtle.verify({ name: "Ed25519" }, key, signature, utf8(text));
    } catch {
      return null;
    }
  };

  const check = async (panel) => {
    const { index, size, leaf: named, path, signed: note, key, event } = panel.dataset;
    const [, counted, base64] = note.split("\n");
    if (counted !== size) return "does not hold: the checkpoint is of another size";
    let hash = Uint8Array.from(named.replace("sha256:", "").match(/../g), (b) => parseInt(b, 16));
    let from = "the leaf hash";
    if (event) {
      const own = await leaf(raw(event));
      if (!equal(own, hash)) return "does not hold: the event's bytes hash to " + hex(own);
      hash = own;
      from = "the event's bytes";
    }
    const steps = path ? path.split(" ").map(raw) : [];
    const found = await root(hash, index, size, steps);
    if (!found || !equal(found, raw(base64))) return "does not hold: the path does not lead to the signed root";
    const by = await signed(note, key);
    if (by === false) return "does not hold: the checkpoint is not signed by the key";
    return "holds: " + steps.length + " hashes lead from " + from + " to the checkpoint's root" +
      (by ? ", and the key signed the checkpoint" : "; this browser can't check Ed25519 signatures");
  };

  const run = async () => {
    for (const panel of document.querySelectorAll("[data-proof]")) {
      const result = panel.querySelector("[data-result]");
      if (!window.isSecureContext || !crypto.subtle) {
        result.textContent = "This browser offers no cryptography on a page without TLS.";
        continue;
      }
      let said;
      try { said = await check(panel); } catch { said = "does not hold: what the page holds can't be read"; }
      result.textContent = said;
      result.className = said.startsWith("holds") ? "good" : "bad";
    }
  };
  run();
})();
