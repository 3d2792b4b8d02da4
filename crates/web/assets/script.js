// Comfort for those with scripts: every page works without.
"use strict";

const typing = () => /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? "");

// "/" goes to the search field; j and k move between the pages found, Enter opens one as any link.
document.addEventListener("keydown", (event) => {
  if (typing() || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/") {
    const field = document.querySelector("main input[type=search], input[type=search]");
    if (!field) return;
    event.preventDefault();
    field.focus();
    field.select();
  } else if (event.key === "j" || event.key === "k") {
    const hits = [...document.querySelectorAll("[data-hit]")];
    if (hits.length === 0) return;
    const here = hits.findIndex((hit) => hit.closest(".hit").contains(document.activeElement));
    const next = event.key === "j" ? Math.min(here + 1, hits.length - 1) : Math.max(here - 1, 0);
    event.preventDefault();
    hits[next].focus();
    hits[next].scrollIntoView({ block: "nearest" });
  }
});

// Suggestions while typing: a combobox with a list of its own.
for (const [number, field] of document.querySelectorAll("[data-suggest]").entries()) suggest(field, `suggestions-${number}`);

function suggest(field, id) {
  const list = document.createElement("ul");
  list.className = "suggestions";
  list.id = id;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Suggestions");
  list.hidden = true;
  field.form.append(list);
  field.setAttribute("role", "combobox");
  field.setAttribute("aria-autocomplete", "list");
  field.setAttribute("aria-expanded", "false");
  field.setAttribute("aria-controls", id);
  let typed = field.value;
  let here = -1;
  let timer = 0;
  let asked = null;

  const close = () => {
    list.hidden = true;
    here = -1;
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
  };
  const choose = (n) => {
    here = n;
    [...list.children].forEach((item, i) => item.setAttribute("aria-selected", String(i === n)));
    if (n >= 0) field.setAttribute("aria-activedescendant", list.children[n].id);
    else field.removeAttribute("aria-activedescendant");
    field.value = n >= 0 ? list.children[n].textContent : typed;
  };
  const show = (words) => {
    list.replaceChildren(...words.slice(0, 8).map((word, n) => {
      const item = document.createElement("li");
      item.id = `${id}-${n}`;
      item.setAttribute("role", "option");
      item.setAttribute("aria-selected", "false");
      item.textContent = word;
      // Before the field loses the focus.
      item.addEventListener("mousedown", (event) => {
        event.preventDefault();
        field.value = word;
        field.form.requestSubmit();
      });
      return item;
    }));
    here = -1;
    field.removeAttribute("aria-activedescendant");
    list.style.left = `${field.offsetLeft}px`;
    list.style.width = `${field.offsetWidth}px`;
    list.hidden = list.children.length === 0;
    field.setAttribute("aria-expanded", String(!list.hidden));
  };
  const ask = async () => {
    asked?.abort();
    asked = new AbortController();
    try {
      const answer = await fetch(`/api/suggest?q=${encodeURIComponent(typed)}`, { signal: asked.signal });
      if (!answer.ok) return close();
      const told = await answer.json();
      const words = Array.isArray(told?.[1]) ? told[1].filter((word) => typeof word === "string" && word !== typed) : [];
      if (document.activeElement === field) show(words);
    } catch {
      // Nobody answers, or somebody typed on.
    }
  };

  field.addEventListener("input", () => {
    typed = field.value;
    clearTimeout(timer);
    if (typed.trim().length < 2) return close();
    timer = setTimeout(ask, 120);
  });
  field.addEventListener("keydown", (event) => {
    const many = list.children.length;
    if (event.key === "Escape" && !list.hidden) {
      event.preventDefault();
      field.value = typed;
      close();
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && many > 0) {
      event.preventDefault();
      list.hidden = false;
      field.setAttribute("aria-expanded", "true");
      const step = event.key === "ArrowDown" ? 1 : -1;
      // One place more than there are words: what was typed.
      choose(((here + 1 + step + many + 1) % (many + 1)) - 1);
    }
  });
  field.addEventListener("blur", close);
}

// The slider through time: it fills the field that is there without it.
for (const form of document.querySelectorAll("[data-slider]")) {
  const slide = form.querySelector(".slide");
  const range = form.querySelector("input[type=range]");
  const field = form.querySelector("[name=at]");
  const output = form.querySelector("output");
  if (!slide || !range || !field) continue;
  slide.hidden = false;
  const written = () => {
    if (Number(range.value) >= Number(range.max)) return "";
    const iso = new Date(Number(range.value) * 1000).toISOString();
    return range.dataset.days ? iso.slice(0, 10) : iso.slice(0, 19);
  };
  range.addEventListener("input", () => {
    field.value = written();
    output.textContent = written().replace("T", " ") || "today";
  });
  range.addEventListener("change", () => form.requestSubmit());
}

// Forms leave out what is empty, so that addresses stay short.
document.addEventListener("submit", (event) => {
  if (event.target.method !== "get") return;
  const empty = [...event.target.elements].filter((field) => field.name && field.value === "" && !field.disabled);
  for (const field of empty) field.disabled = true;
  // Whoever comes back finds them as they were.
  setTimeout(() => empty.forEach((field) => { field.disabled = false; }), 0);
});
