// Shows what Interlock tells this browser when no page is open, and opens the page that a click is meant for. It answers nothing and
// keeps nothing: a yes takes the page, and what is signed there.
"use strict";
addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(clients.claim()));

const pages = () => clients.matchAll({ type: "window", includeUncontrolled: true });

addEventListener("push", (event) => {
  event.waitUntil((async () => {
    let said = {};
    try { said = event.data.json(); } catch { /* what can't be read is told as such */ }
    const tag = typeof said.tag === "string" ? said.tag : "";
    if (said.kind === "answered" && (await pages()).some((page) => page.visibilityState === "visible")) {
      // somebody looks at the console, which says so by itself
      for (const shown of await registration.getNotifications({ tag })) shown.close();
      return;
    }
    await registration.showNotification(said.title || "Interlock: something waits", {
      body: said.body || "Open the console to see what.",
      tag: tag || "interlock",
      renotify: said.kind === "asks",
      silent: said.kind === "answered",
      icon: "/static/interlock.png",
      data: { path: typeof said.path === "string" ? said.path : "/pending" },
    });
  })());
});

addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil((async () => {
    let to = new URL("/pending", location.origin);
    try { to = new URL(event.notification.data.path, location.origin); } catch { /* the inbox, then */ }
    if (to.origin !== location.origin) to = new URL("/pending", location.origin);
    const page = (await pages()).find((one) => one.url === to.href);
    await (page ? page.focus() : clients.openWindow(to.href));
  })());
});
