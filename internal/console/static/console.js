// What pages are more pleasant with: times of this browser's own clock and place. Nothing here decides or signs anything.
"use strict";
(() => {
  const count = (n, unit) => n + " " + unit + (n === 1 ? "" : "s");
  const words = (seconds) => seconds < 90 ? Math.floor(seconds) + " s" : seconds < 5400 ? count(Math.round(seconds / 60), "minute")
    : seconds < 129600 ? count(Math.round(seconds / 3600), "hour") : count(Math.round(seconds / 86400), "day");
  const ago = (seconds) => seconds < 0 ? "in " + words(-seconds) : seconds < 5 ? "just now" : words(seconds) + " ago";
  const left = (seconds) => seconds > 0 ? words(seconds) + " left" : "no time left";
  const write = (options) => (at) => at.toLocaleString(undefined, options);
  const clock = write({ hour: "2-digit", minute: "2-digit", second: "2-digit" });
  const both = write({ day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
  const full = write({ dateStyle: "medium", timeStyle: "medium" });
  const forms = {
    ago: (at, now) => ago((now - at) / 1000),
    left: (at, now) => left((at - now) / 1000),
    stamp: (at, now) => now - at < 72000000 && at - now < 3600000 ? clock(at) : both(at),
    full: (at, now) => full(at) + " (" + ago((now - at) / 1000) + ")",
    hour: both,
    day: write({ day: "numeric", month: "short" }),
  };
  // Times are told as this place tells them; the exact one, with the one of the log, shows when it is pointed at.
  const tell = () => {
    const now = new Date();
    for (const e of document.querySelectorAll("time[data-time]")) {
      const at = new Date(e.dateTime), text = forms[e.dataset.time](at, now);
      if (e.textContent !== text) e.textContent = text;
      if (!e.dataset.told) {
        e.dataset.told = "1";
        e.title = full(at) + " here, " + at.toISOString().replace("T", " ").replace(/\.\d+Z$/, " UTC");
      }
    }
  };
  tell();
  setInterval(tell, 1000);

  // On a phone the navigation is one line that is pushed aside; the page one is on must not be out of sight in it.
  const tab = document.querySelector(".top nav [aria-current]");
  if (tab) tab.parentElement.scrollLeft = tab.offsetLeft - tab.parentElement.offsetLeft - (tab.parentElement.clientWidth - tab.offsetWidth) / 2;

  // What is live: a stream says that something may have changed, and the page looks again.
  const live = () => document.querySelector("[data-live]");
  const fetched = async () => {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (!page.querySelector("[data-live]")) location.reload(); // the session has ended, or so
    return page;
  };
  const tickedIn = (root) => [...root.querySelectorAll("input[name=id]:checked")].map((box) => box.value);
  // What has just moved under a finger takes no press.
  const settle = (e) => {
    e.classList.add("settling");
    setTimeout(() => e.classList.remove("settling"), 600);
  };
  const bar = () => {
    const one = document.querySelector(".bar");
    if (!one) return;
    const idle = tickedIn(document).length === 0;
    if (!idle && one.classList.contains("idle")) settle(one);
    one.classList.toggle("idle", idle);
  };
  const became = (page, id) => {
    const said = page.querySelector("[data-became='" + CSS.escape(id) + "']");
    return said ? said.textContent : "It no longer waits";
  };
  // A card whose request has been answered stays where it is, and says what became of it.
  const retire = (card, page) => {
    const said = document.createElement("p");
    said.className = "outcome";
    said.textContent = became(page, card.id);
    card.classList.add("gone");
    for (const e of card.querySelectorAll(".actions, .tick, .group")) e.remove();
    card.append(said);
  };
  const regroup = (card, other) => {
    const have = card.querySelector(".group"), next = other.querySelector(".group");
    const ids = (group) => group ? [...group.querySelectorAll("li")].map((e) => e.id).join() : "";
    if (ids(have) === ids(next)) return;
    const ticked = tickedIn(card), open = have && have.open;
    if (have) have.remove();
    if (!next) return;
    card.append(next);
    next.open = open;
    for (const box of next.querySelectorAll("input[name=id]")) box.checked = ticked.includes(box.value) && !box.disabled;
  };
  const merge = (page) => {
    const cards = document.getElementById("cards"), fresh = page.getElementById("cards");
    if (!cards) {
      if (fresh) live().replaceChildren(...page.querySelector("[data-live]").childNodes);
      bar();
      tell();
      return;
    }
    const list = fresh ? [...fresh.children] : [];
    const now = new Map(list.map((card) => [card.id, card]));
    for (const card of [...cards.children]) {
      const other = now.get(card.id);
      if (other) regroup(card, other);
      else if (!card.classList.contains("gone")) retire(card, page);
      else if (page.querySelector("[data-became='" + CSS.escape(card.id) + "']")) card.lastElementChild.textContent = became(page, card.id);
    }
    const waits = document.getElementById("waits"), nextWaits = page.getElementById("waits");
    if (waits) waits.textContent = nextWaits ? nextWaits.textContent : "nothing waits any more";
    let place = cards.firstElementChild, moved = false;
    for (const card of list) {
      const have = document.getElementById(card.id);
      if (have && have.parentElement === cards) { place = have.nextElementSibling; continue; }
      if (have) continue; // it stands within a group
      card.classList.add("fresh");
      cards.insertBefore(card, place);
      moved = true;
    }
    const after = document.getElementById("after"), nextAfter = page.getElementById("after");
    if (after && nextAfter) after.replaceChildren(...nextAfter.childNodes); // last: what became of others is read from there
    if (moved) settle(cards);
    bar();
    tell();
  };
  let looking = false, again = false;
  const look = async () => {
    if (looking) { again = true; return; }
    looking = true;
    try {
      do {
        again = false;
        const page = await fetched(), have = live(), next = page.querySelector("[data-live]");
        if (!have || !next) break;
        if (have.id === "inbox") merge(page);
        else if (have.dataset.status !== next.dataset.status) have.replaceWith(next);
      } while (again);
    } catch { /* the server is away; the stream comes back by itself, and says so */ }
    looking = false;
    tell();
  };
  const numbers = (html) => {
    for (const next of new DOMParser().parseFromString(html, "text/html").querySelectorAll(".count")) {
      const have = document.getElementById(next.id);
      if (have) { have.textContent = next.textContent; have.hidden = next.hidden; }
    }
  };
  if (live()) {
    const source = new EventSource(live().dataset.live);
    source.addEventListener("inbox", look);
    source.addEventListener("waiting", (event) => numbers(event.data));
    source.addEventListener("end", () => { source.close(); location.reload(); });
    addEventListener("pagehide", () => source.close());
  }
  document.addEventListener("interlock:answered", look);
  document.addEventListener("change", (event) => { if (event.target.matches("input[name=id]")) bar(); });
  document.addEventListener("htmx:afterSwap", () => { bar(); tell(); });
  bar();

  // Keys.
  const dialog = (name, fill) => {
    const box = document.createElement("dialog");
    box.setAttribute("aria-label", name);
    fill(box);
    box.addEventListener("close", () => box.remove());
    box.addEventListener("click", (event) => { if (event.target === box) box.close(); });
    document.body.append(box);
    box.showModal();
  };
  const make = (tag, text, of) => {
    const e = document.createElement(tag);
    if (text) e.textContent = text;
    if (of) of.append(e);
    return e;
  };
  const help = () => dialog("Keys", (box) => {
    make("h2", "Keys", box);
    const list = make("dl", "", box);
    list.className = "keys";
    for (const [key, does] of [["j k", "next and previous"], ["a", "approve"], ["d", "deny"], ["x", "tick"], ["o", "look closer"],
      ["/", "search"], ["Ctrl K", "go anywhere"], ["?", "this list"]]) {
      make("kbd", key, make("dt", "", list));
      make("dd", does, list);
    }
  });
  const palette = () => dialog("Go to", (box) => {
    box.className = "palette";
    const field = make("input", "", box), list = make("ul", "", box);
    field.type = "search";
    field.setAttribute("aria-label", "Go to a page, or search");
    field.placeholder = "Go to a page, or search for a command, a rule, an event…";
    const places = [...document.querySelectorAll(".top nav a, .kept a")].map((a) => [a.firstChild.textContent.trim(), a.getAttribute("href")]);
    const show = () => {
      const text = field.value.trim(), q = encodeURIComponent(text);
      const found = places.filter(([name]) => name.toLowerCase().includes(text.toLowerCase()));
      if (text) found.push(["Decisions with “" + text + "”", "/feed?q=" + q], ["Waiting with “" + text + "”", "/pending?q=" + q],
        ["Rules about “" + text + "”", "/rules?q=" + q], ["Decisions of agents named “" + text + "”", "/feed?agent=" + q]);
      list.replaceChildren();
      for (const [name, to] of found) make("a", name, make("li", "", list)).href = to;
    };
    field.addEventListener("input", show);
    field.addEventListener("keydown", (event) => {
      const first = list.querySelector("a");
      if (event.key === "Enter" && first) { event.preventDefault(); first.click(); }
      if (event.key === "ArrowDown" && first) { event.preventDefault(); first.focus(); }
    });
    list.addEventListener("keydown", (event) => {
      const at = document.activeElement.parentElement;
      const to = event.key === "ArrowDown" ? at.nextElementSibling : event.key === "ArrowUp" ? at.previousElementSibling : null;
      if (to) { event.preventDefault(); to.firstChild.focus(); }
    });
    show();
  });
  const cards = () => [...document.querySelectorAll(".card:not(.gone), .rows > .row > a")];
  const current = () => document.activeElement.closest(".card") || document.querySelector(".card.current:not(.gone)") || document;
  const step = (by) => {
    const all = cards(), at = all.indexOf(document.activeElement.closest(".card, .row > a"));
    const to = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + by, 0), all.length - 1)];
    for (const e of document.querySelectorAll(".current")) e.classList.remove("current");
    if (!to) return;
    to.classList.add("current");
    to.focus({ preventScroll: true });
    to.scrollIntoView({ block: "nearest" });
  };
  let armed = null;
  // A key that says yes without a passkey behind it says so twice.
  const press = (key) => {
    const button = current().querySelector("[data-key=" + key + "]");
    if (!button || button.closest(".settling")) return;
    const asks = button.form && button.form.querySelector("[role=status]");
    if (key === "a" && button.dataset.plain !== undefined && armed !== button) {
      armed = button;
      setTimeout(() => { armed = null; }, 3000);
      if (asks) asks.textContent = "Press a once more to approve";
      return;
    }
    armed = null;
    button.click();
  };
  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      if (document.querySelector(".top nav") && !document.querySelector("dialog[open]")) palette();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat && event.key !== "j" && event.key !== "k" ||
      event.target.matches("input:not([type=checkbox]), select, textarea") || document.querySelector("dialog[open]")) return;
    const search = document.querySelector("main input[type=search]");
    const does = { j: () => step(1), k: () => step(-1), a: () => press("a"), d: () => press("d"), "?": help,
      x: () => { const box = current().querySelector("input[name=id]"); if (box && !box.disabled) box.click(); },
      o: () => { const link = current().querySelector("a.open"); if (link) link.click(); },
      "/": () => { if (search) search.focus(); } }[event.key];
    if (!does) return;
    event.preventDefault();
    does();
  });
})();
