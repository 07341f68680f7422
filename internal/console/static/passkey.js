// Has a passkey sign what a form is about, or makes a new one, and sends the form. Nothing here is trusted by the server:
// it checks what comes back.
"use strict";
(() => {
  const bytes = (text) => {
    const raw = atob(text.replace(/-/g, "+").replace(/_/g, "/"));
    return Uint8Array.from(raw, (c) => c.charCodeAt(0));
  };
  const text = (buffer) => {
    let raw = "";
    for (const b of new Uint8Array(buffer)) raw += String.fromCharCode(b);
    return btoa(raw).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  };
  const plain = (credential, response) => JSON.stringify({
    id: credential.id, rawId: text(credential.rawId), type: credential.type,
    authenticatorAttachment: credential.authenticatorAttachment || undefined,
    clientExtensionResults: {}, response,
  });
  // What is asked of the passkey: the hash of the one statement, or of a text that lists the hash of each.
  const challenge = async (form, by) => {
    if (by && by.dataset.hash) return bytes(by.dataset.hash);
    if (form.dataset.batch === undefined) return bytes(form.dataset.challenge);
    const hashes = [...form.querySelectorAll("input[data-hash]:checked")].map((box) => bytes(box.dataset.hash));
    if (hashes.length === 0) throw new Error("tick at least one request");
    if (hashes.length === 1) return hashes[0];
    const hex = (raw) => [...raw].map((b) => b.toString(16).padStart(2, "0")).join("");
    const list = "Interlock batch, version 1\n" + hashes.map((raw) => hex(raw) + "\n").join("");
    return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(list)));
  };
  const get = async (form, by) => {
    const data = form.dataset;
    const credential = await navigator.credentials.get({ publicKey: {
      challenge: await challenge(form, by), rpId: data.host, userVerification: "required", timeout: 120000,
      allowCredentials: (data.allow || "").split(" ").filter(Boolean).map((id) => ({ type: "public-key", id: bytes(id) })),
    } });
    const r = credential.response;
    return plain(credential, {
      clientDataJSON: text(r.clientDataJSON), authenticatorData: text(r.authenticatorData), signature: text(r.signature),
    });
  };
  const create = async (form) => {
    const data = form.dataset;
    const credential = await navigator.credentials.create({ publicKey: {
      challenge: bytes(data.challenge), rp: { id: data.host, name: "Interlock" },
      user: { id: bytes(data.userId), name: data.user, displayName: data.user },
      pubKeyCredParams: data.algorithms.split(" ").map((alg) => ({ type: "public-key", alg: Number(alg) })),
      authenticatorSelection: { residentKey: "required", requireResidentKey: true, userVerification: "required" },
      attestation: "none", timeout: 120000,
    } });
    const r = credential.response;
    return plain(credential, {
      clientDataJSON: text(r.clientDataJSON), attestationObject: text(r.attestationObject),
      transports: r.getTransports ? r.getTransports() : [],
    });
  };
  // An answer that leaves the page where it is. Whether it counted shows when the page is read again.
  const sendInPlace = async (form, by, fields, to) => {
    const answer = await fetch(to, { method: "POST", body: fields, redirect: "manual" });
    if (answer.type !== "opaqueredirect") {
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const said = page.querySelector("main [role=alert]");
      throw new Error(said ? said.textContent : "it was not taken");
    }
    document.dispatchEvent(new CustomEvent("interlock:answered"));
  };
  const secret = location.hash.slice(1);
  for (const form of document.querySelectorAll("form[data-passkey]")) {
    if (form.elements.secret && secret) {
      form.elements.secret.value = secret;
      history.replaceState(null, "", location.pathname + location.search);
    }
  }
  document.addEventListener("submit", async (event) => {
    const form = event.target, by = event.submitter, data = form.dataset;
    if (data.passkey === undefined) return;
    const signs = data.plain === undefined && !(by && by.dataset.plain !== undefined), stays = data.inplace !== undefined;
    if (!signs && !stays) return;
    event.preventDefault();
    if (data.busy) return;
    data.busy = "1";
    const status = form.querySelector("[role=status]"), say = (text) => { if (status) status.textContent = text; };
    // What is sent is what stood there when the button was pressed, whatever the page shows until the passkey has answered.
    const fields = new URLSearchParams(new FormData(form)), to = (by && by.getAttribute("formaction")) || form.getAttribute("action");
    if (by && by.name) fields.set(by.name, by.value); // which button it was is lost otherwise
    try {
      if (signs) {
        say("Waiting for your passkey…");
        const created = data.passkey === "create";
        fields.set(created ? "credential" : "assertion", await (created ? create(form) : get(form, by)));
      }
      if (stays) {
        say("Answering…");
        await sendInPlace(form, by, fields, to);
        say("");
      } else {
        const sent = document.createElement("form");
        sent.method = "post";
        sent.action = to;
        for (const [name, value] of fields) {
          const field = document.createElement("input");
          [field.type, field.name, field.value] = ["hidden", name, value];
          sent.append(field);
        }
        document.body.append(sent);
        sent.submit();
        return;
      }
    } catch (error) {
      say((error.name === "Error" ? "It was not answered: " : "The passkey did not answer: ") + error.message);
    }
    delete data.busy;
  });
})();
