// The crawl page, kept up to date by events. Foreign text is only ever set as text.
"use strict";

(() => {
  const live = document.getElementById("live");
  if (!live || !window.EventSource) return;
  const byId = (id) => document.getElementById(id);
  const setText = (node, text) => {
    if (node && node.textContent !== text) node.textContent = text;
  };
  const show = (node, on) => {
    if (node && node.hidden === on) node.hidden = !on;
  };

  // A cell: plain text, or a link to one of our own pages.
  const fill = (td, cell) => {
    const link = td.firstElementChild;
    if (!cell.h || !cell.h.startsWith("/")) {
      setText(td, cell.t);
    } else if (link && link.tagName === "A") {
      if (link.getAttribute("href") !== cell.h) link.setAttribute("href", cell.h);
      setText(link, cell.t);
    } else {
      const a = document.createElement("a");
      a.href = cell.h;
      a.textContent = cell.t;
      td.replaceChildren(a);
    }
  };

  const fillRow = (tr, cells, heads) => {
    cells.forEach((cell, n) => {
      let td = tr.children[n];
      if (!td) {
        td = tr.appendChild(document.createElement("td"));
        td.className = heads[n]?.className ?? "";
      }
      fill(td, cell);
    });
  };

  const fillTable = (of) => {
    const table = byId(of.id);
    if (!table) return;
    const body = table.tBodies[0];
    const heads = table.tHead.rows[0].children;
    of.rows.forEach((cells, n) => {
      fillRow(body.rows[n] ?? body.insertRow(), cells, heads);
    });
    while (body.rows.length > of.rows.length) body.deleteRow(-1);
    show(table, of.rows.length > 0);
    show(byId(`${of.id}-empty`), of.rows.length === 0);
    setText(byId(`${of.id}-more`), of.more);
    show(byId(`${of.id}-more`), of.more !== "");
  };

  const fillJobs = (jobs) => {
    const table = byId("jobs");
    const body = table.tBodies[0];
    const heads = table.tHead.rows[0].children;
    for (const job of jobs) {
      let tr = body.querySelector(`tr[data-job="${Number(job.id)}"]`);
      if (!tr) {
        tr = body.insertRow(0);
        tr.dataset.job = String(Number(job.id));
      }
      fillRow(tr, job.cells, heads);
      const open = job.state === "open";
      const paused = job.state === "paused";
      show(tr.querySelector("[data-act=pause]"), open);
      show(tr.querySelector("[data-act=resume]"), paused);
      show(tr.querySelector("[data-act=drop]"), open || paused);
    }
    show(table, body.rows.length > 0);
    show(byId("jobs-empty"), body.rows.length === 0);
  };

  const fillPlot = (plot) => {
    for (const line of plot.lines) {
      byId(`line-${line.id}`)?.setAttribute("points", line.points);
      setText(byId(`last-${line.id}`), line.last);
      setText(byId(`most-${line.id}`), line.most);
    }
    if (plot.span) setText(byId("span"), plot.span);
  };

  const fillNumbers = (numbers) => {
    const list = byId("numbers");
    numbers.forEach(([name, value], n) => {
      let div = list.children[n];
      if (!div) {
        div = list.appendChild(document.createElement("div"));
        div.append(document.createElement("dt"), document.createElement("dd"));
      }
      setText(div.children[0], name);
      setText(div.children[1], value);
    });
    while (list.children.length > numbers.length) list.lastElementChild.remove();
  };

  const take = (picture) => {
    live.dataset.state = picture.state;
    setText(byId("lead"), picture.lead);
    setText(byId("why"), picture.why);
    show(byId("why"), picture.why !== "");
    if (picture.state === "unknown") return;
    fillNumbers(picture.numbers);
    fillJobs(picture.jobs);
    picture.tables.forEach(fillTable);
    fillPlot(picture.plot);
    const open = picture.jobs.some((job) => job.state === "open");
    document.querySelectorAll("[data-works]").forEach((node) => show(node, picture.works));
    document.querySelectorAll("section[data-idle]").forEach((node) => show(node, !picture.works));
    document.querySelectorAll("div[data-idle]").forEach((node) => show(node, !picture.works && open));
    document.querySelectorAll("[data-stops]").forEach((node) => show(node, picture.stops));
  };

  const how = byId("how");
  let source = null;
  const open = () => {
    source = new EventSource("/api/events");
    source.onmessage = (event) => {
      setText(how, "Kept up to date as it goes.");
      take(JSON.parse(event.data));
    };
    source.onerror = () => setText(how, "The connection is lost; it is tried again by itself.");
  };
  // Nobody looks at a page in the background.
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      source?.close();
      source = null;
    } else if (!source) {
      open();
    }
  });
  if (!document.hidden) open();
})();
