// Search and the choice of colours. The index is a program of its own, loaded when somebody begins to search: a page that was opened as
// a file may load programs beside it and nothing else.
"use strict";
let searchIndex;
(() => {
  const root = document.currentScript.dataset.root;
  const page = document.documentElement;
  const kept = (name, value) => {
    try {
      if (value) localStorage.setItem(name, value);
      return localStorage.getItem(name);
    } catch { return null; }
  };
  const dark = () => page.dataset.theme ? page.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const theme = document.getElementById("theme");
  const paint = (to) => {
    if (to) page.dataset.theme = to;
    theme.textContent = dark() ? "Light" : "Dark";
  };
  paint(kept("interlock-theme"));
  theme.hidden = false;
  theme.addEventListener("click", () => {
    const to = dark() ? "light" : "dark";
    kept("interlock-theme", to);
    paint(to);
  });

  const menu = document.querySelector(".menu");
  if (matchMedia("(max-width: 48rem)").matches) menu.open = false;

  const query = document.getElementById("query"), found = document.getElementById("found");
  document.querySelector(".search").hidden = false;
  let loading;
  const index = () => loading ??= new Promise((done, failed) => {
    const program = document.createElement("script");
    program.src = root + "search.js";
    program.onload = done;
    program.onerror = failed;
    document.head.append(program);
  });
  const element = (name, text) => Object.assign(document.createElement(name), { textContent: text });
  // near is what stands around the first of the words.
  const near = (text, words) => {
    const lower = text.toLowerCase(), at = Math.max(0, Math.min(...words.map((w) => lower.indexOf(w)).filter((i) => i >= 0), text.length) - 40);
    return (at ? "…" : "") + text.slice(at, at + 140) + (at + 140 < text.length ? "…" : "");
  };
  const worth = ([, title, heading, text], words) => {
    title = title.toLowerCase(); heading = heading.toLowerCase(); text = text.toLowerCase();
    let sum = 0;
    for (const word of words) {
      const here = (heading.includes(word) ? 20 : 0) + (title.includes(word) ? 8 : 0) + Math.min(text.split(word).length - 1, 5);
      if (!here) return 0;
      sum += here;
    }
    return sum + (heading === words.join(" ") ? 50 : 0);
  };
  const look = async () => {
    const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) return found.replaceChildren();
    try { await index(); } catch { return found.replaceChildren(element("p", "The index can't be read.")); }
    const hits = searchIndex.map((entry) => [worth(entry, words), entry]).filter(([n]) => n).sort((a, b) => b[0] - a[0]).slice(0, 15);
    found.replaceChildren(...hits.map(([, [address, title, heading, text]]) => {
      const link = Object.assign(element("a", ""), { href: root + address });
      link.append(element("b", heading || title), element("small", (heading ? title + ": " : "") + near(text, words)));
      return link;
    }));
    if (!hits.length) found.replaceChildren(element("p", "Nothing has all of these words."));
  };
  query.addEventListener("input", look);
  query.addEventListener("focus", () => index().catch(() => {}));
  document.addEventListener("keydown", (event) => {
    const links = [...found.querySelectorAll("a")], at = links.indexOf(document.activeElement);
    if (event.key === "/" && document.activeElement !== query) { event.preventDefault(); query.focus(); }
    if (event.key === "Escape") { query.value = ""; found.replaceChildren(); }
    if (event.key === "Enter" && document.activeElement === query && links.length) links[0].click();
    if (links.length && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      (links[at + (event.key === "ArrowDown" ? 1 : -1)] || query).focus();
    }
  });
  document.addEventListener("click", (event) => { if (!event.target.closest(".search")) found.replaceChildren(); });
})();
