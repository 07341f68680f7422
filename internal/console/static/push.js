// Switches notifications on and off in this browser. What the server is told stands in a form; it holds it to its own rules.
"use strict";
(() => {
  const form = document.querySelector("form[data-push]"), says = document.querySelector("[data-push-says]");
  if (!form) return;
  const say = (text) => { says.textContent = text; };
  if (!("serviceWorker" in navigator) || !("PushManager" in window) || !("Notification" in window)) {
    say("This browser has no push messages. On an iPhone or iPad, add the console to the home screen and open it from there.");
    return;
  }
  const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
  const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  // How the server calls a browser: see idOf in sender.go.
  const idOf = async (endpoint) => "psh_" + [...new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(endpoint)))]
    .slice(0, 8).map((b) => b.toString(16).padStart(2, "0")).join("");
  const have = async () => {
    const worker = await navigator.serviceWorker.getRegistration("/");
    return worker ? worker.pushManager.getSubscription() : null;
  };
  const same = (subscription, key) => subscription.options && subscription.options.applicationServerKey &&
    text(subscription.options.applicationServerKey) === key;

  const show = async () => {
    const subscription = await have().catch(() => null);
    const row = subscription && document.querySelector("[data-browser='" + await idOf(subscription.endpoint) + "']");
    if (row) row.querySelector("strong[hidden]").hidden = false;
    else form.hidden = false;
    if (row && Notification.permission !== "granted") say("This browser no longer lets the console notify you: permit it in its settings.");
  };
  show();

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      say("Switching on…");
      if (await Notification.requestPermission() !== "granted") throw new Error("this browser does not permit it; its settings for this page do");
      await navigator.serviceWorker.register("/push-worker.js");
      const worker = await navigator.serviceWorker.ready;
      let subscription = await worker.pushManager.getSubscription();
      if (subscription && !same(subscription, form.dataset.push)) {
        await subscription.unsubscribe(); // it was made with another key
        subscription = null;
      }
      subscription = subscription || await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: bytes(form.dataset.push) });
      form.elements.endpoint.value = subscription.endpoint;
      form.elements.p256dh.value = text(subscription.getKey("p256dh"));
      form.elements.auth.value = text(subscription.getKey("auth"));
      form.submit();
    } catch (error) {
      say("It was not switched on: " + error.message);
    }
  });

  for (const end of document.querySelectorAll("form[data-push-end]")) {
    end.addEventListener("submit", async (event) => {
      event.preventDefault();
      const subscription = await have().catch(() => null);
      if (subscription && await idOf(subscription.endpoint) === end.elements.id.value) await subscription.unsubscribe().catch(() => false);
      end.submit();
    });
  }
})();
