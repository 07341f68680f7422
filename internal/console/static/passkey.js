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
  const challenge = async (form) => {
    if (form.dataset.batch === undefined) return bytes(form.dataset.challenge);
    const hashes = [...form.querySelectorAll("input[data-hash]:checked")].map((box) => bytes(box.dataset.hash));
    if (hashes.length === 0) throw new Error("tick at least one request");
    if (hashes.length === 1) return hashes[0];
    const hex = (raw) => [...raw].map((b) => b.toString(16).padStart(2, "0")).join("");
    const list = "Interlock batch, version 1\n" + hashes.map((raw) => hex(raw) + "\n").join("");
    return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(list)));
  };
  const get = async (form) => {
    const data = form.dataset;
    const credential = await navigator.credentials.get({ publicKey: {
      challenge: await challenge(form), rpId: data.host, userVerification: "required", timeout: 120000,
      allowCredentials: (data.allow || "").split(" ").filter(Boolean).map((id) => ({ type: "public-key", id: bytes(id) })),
    } });
    const r = credential.response;
    form.elements.assertion.value = plain(credential, {
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
    form.elements.credential.value = plain(credential, {
      clientDataJSON: text(r.clientDataJSON), attestationObject: text(r.attestationObject),
      transports: r.getTransports ? r.getTransports() : [],
    });
  };
  const secret = location.hash.slice(1);
  for (const form of document.querySelectorAll("form[data-passkey]")) {
    if (form.elements.secret && secret) {
      form.elements.secret.value = secret;
      history.replaceState(null, "", location.pathname + location.search);
    }
    form.addEventListener("submit", async (event) => {
      if (event.submitter && event.submitter.dataset.plain !== undefined) return;
      event.preventDefault();
      const status = form.querySelector("[role=status]");
      try {
        if (status) status.textContent = "Waiting for your passkey…";
        await (form.dataset.passkey === "create" ? create(form) : get(form));
        if (event.submitter && event.submitter.name) { // which button it was is lost otherwise
          const verb = document.createElement("input");
          verb.type = "hidden";
          verb.name = event.submitter.name;
          verb.value = event.submitter.value;
          form.append(verb);
        }
        form.submit();
      } catch (error) {
        if (status) status.textContent = "The passkey did not answer: " + error.message;
      }
    });
  }
})();
