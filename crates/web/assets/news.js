// Comfort for those with scripts on the pages of the news: what is opened is marked as read, the quick look comes in place,
// and keys.
"use strict";

const csrf = () => document.querySelector("input[name=csrf]")?.value;

// What narrows is open where there is room for it.
for (const side of document.querySelectorAll("[data-side]")) {
  const wide = matchMedia("(min-width: 56.01rem)");
  const fit = () => { side.open = wide.matches; };
  fit();
  wide.addEventListener("change", fit);
}

// Times by the clock of the reader; without scripts they are told in UTC.
const two = (number) => String(number).padStart(2, "0");
function byTheClock(root) {
  for (const time of root.querySelectorAll("time[datetime*=T]")) {
    const at = new Date(time.dateTime);
    if (Number.isNaN(at.valueOf())) continue;
    const day = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join("-");
    const here = `${day} ${[at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(":")}`;
    const utc = at.toISOString().slice(0, 16).replace("T", " ");
    time.title = `${here.slice(0, 16)} by your clock, ${utc} UTC`;
    if (time.dataset.clock) time.textContent = here.slice(0, Number(time.dataset.clock));
  }
}
byTheClock(document);

// A picture that cannot be had leaves the letter behind it.
const gone = (image) => image.closest(".thumb") && image.remove();
document.addEventListener("error", (event) => event.target.tagName === "IMG" && gone(event.target), true);
for (const image of document.images) if (image.complete && image.naturalWidth === 0 && image.currentSrc) gone(image);

// What is counted beside the stories follows the marks.
let counting = null;
async function count() {
  const query = location.search ? `${location.search}&bare=1` : "?bare=1";
  const answer = await fetch(location.pathname + query);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of [".tally", "[data-side] .groups"]) {
    const [old, now] = [document.querySelector(part), page.querySelector(part)];
    if (old && now) old.replaceChildren(...now.childNodes);
  }
}
function recount() {
  clearTimeout(counting);
  counting = setTimeout(() => count().catch(() => {}), 300);
}

// Read marks: told to the server, shown here.
function mark(kind, number, read) {
  const token = csrf();
  if (!token) return;
  const body = new URLSearchParams({ csrf: token, kind, number, read: read ? "1" : "0", quiet: "1" });
  const told = fetch("/news/read", { method: "POST", body, keepalive: true });
  told.then(() => document.querySelector("[data-side]") && recount()).catch(() => {});
}

function show(card, read) {
  card.classList.toggle("unread", !read);
  for (const word of card.querySelectorAll("[data-unread]")) word.hidden = read;
  const form = card.querySelector(".toggle form");
  if (!form) return;
  const button = form.querySelector("button");
  const name = read ? "Mark as unread" : "Mark as read";
  button.setAttribute("aria-label", button.getAttribute("aria-label").replace(button.textContent, name));
  button.textContent = name;
  form.elements.read.value = read ? "0" : "1";
}

function set(card, read) {
  if (!csrf() || card.classList.contains("unread") !== read) return;
  mark(card.dataset.kind, card.dataset.number, read);
  show(card, read);
  if ("open" in card.dataset) for (const article of document.querySelectorAll("[data-kind=doc]")) show(article, read);
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  const card = form.closest(".toggle") && form.closest("[data-kind]");
  if (!card) return;
  event.preventDefault();
  set(card, form.elements.read.value === "1");
});

// A link of a card, out of here or to its story; the middle button opens it too.
const opened = (event) => {
  const card = event.target.closest?.("[data-out], [data-hit], a.thumb")?.closest("[data-kind]");
  if (card && event.button < 2) set(card, true);
};
document.addEventListener("click", opened);
document.addEventListener("auxclick", opened);

// A story that is looked at was opened.
const story = document.querySelector("[data-open]");
if (story) {
  // What was new stays to be seen.
  for (const article of document.querySelectorAll("[data-kind=doc].unread")) article.classList.add("fresh");
  set(story, true);
}

// The quick look, in place.
const looked = document.getElementById("looked");
let asking = null;
async function look(url) {
  asking?.abort();
  asking = new AbortController();
  looked.setAttribute("aria-busy", "true");
  const wait = document.createElement("p");
  wait.className = "quiet";
  wait.textContent = "Looking …";
  looked.replaceChildren(wait);
  try {
    // What was said of the last action is for the page that is looked at.
    const answer = await fetch(`${url}&bare=1`, { signal: asking.signal });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const found = page.getElementById("looked")?.childNodes ?? page.querySelectorAll("main p");
    looked.replaceChildren(...found);
    byTheClock(looked);
  } catch (failure) {
    if (failure.name === "AbortError") return;
    wait.textContent = "Nobody answers; try again in a moment.";
    looked.replaceChildren(wait);
  }
  looked.removeAttribute("aria-busy");
}
if (looked) {
  for (const part of document.querySelectorAll("[data-look]")) {
    part.addEventListener("submit", (event) => {
      if (event.target.method !== "get") return;
      event.preventDefault();
      const site = new FormData(event.target).get("site");
      look(`/news/quick?site=${encodeURIComponent(site)}`);
    });
    part.addEventListener("click", (event) => {
      const chip = event.target.closest("a.chip");
      if (!chip || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      for (const other of part.querySelectorAll("a.chip")) other.removeAttribute("aria-current");
      chip.setAttribute("aria-current", "true");
      look(chip.href);
    });
  }
}

// How far a collection is, until it is over. Nobody looks at a page in the background.
const gathering = document.getElementById("gathering");
if (gathering && window.EventSource) {
  const [said, watch, more] = gathering.children;
  let source = null;
  const stop = () => { source?.close(); source = null; };
  const listen = () => {
    source = new EventSource("/api/events");
    source.onmessage = (event) => {
      const picture = JSON.parse(event.data);
      // Somebody else may hold the directory for a moment.
      if (picture.state === "unknown") return;
      const over = !picture.gathering;
      const words = over ? "The news are collected." : picture.gathering;
      if (said.textContent !== words) said.textContent = words;
      watch.hidden = over;
      more.hidden = !over;
      if (over && !picture.works) stop();
    };
  };
  document.addEventListener("visibilitychange", () => (document.hidden ? stop() : source ?? listen()));
  if (!document.hidden) listen();
}

// o opens, v opens it where it comes from, m marks; j, k and / are those of all pages.
document.addEventListener("keydown", (event) => {
  if (typing() || event.ctrlKey || event.metaKey || event.altKey) return;
  const card = document.activeElement?.closest(".hit");
  if (!card) return;
  if (event.key === "o") card.querySelector("[data-hit]")?.click();
  else if (event.key === "v") (card.querySelector("[data-out]") ?? card.querySelector("[data-hit]"))?.click();
  else if (event.key === "m" && card.dataset.kind) set(card, card.classList.contains("unread"));
  else return;
  event.preventDefault();
});
