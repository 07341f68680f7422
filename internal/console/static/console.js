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
})();
