"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const within = (root, selector) => [...(root.matches(selector) ? [root] : []), ...all(selector, root)];
  const file = (title, end) => title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") + end;

  const save = (name, type, text) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };

  const button = (label, what, action) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = label;
    made.title = what;
    made.addEventListener("click", action);
    return made;
  };

  const tools = (before, ...buttons) => {
    const row = document.createElement("div");
    row.className = "tools";
    row.append(...buttons);
    before.after(row);
  };

  // A drawing by itself has no style sheet: each element takes along what it looks like here.
  const alone = (figure) => {
    const svg = figure.querySelector("svg");
    const copy = svg.cloneNode(true);
    const kept = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-weight"];
    const originals = all("*", svg);
    all("*", copy).forEach((element, place) => {
      const style = getComputedStyle(originals[place]);
      element.removeAttribute("style");
      for (const name of kept) element.setAttribute(name, style.getPropertyValue(name));
    });
    copy.querySelector(".axis")?.removeAttribute("transform");
    const [width, height] = [svg.width.baseVal.value, svg.height.baseVal.value];
    const ink = getComputedStyle(document.body).color;
    const head = [`<text x="8" y="18" font-size="14" font-weight="600" fill="${ink}"></text>`];
    let [x, y] = [8, 40];
    for (const key of all(".key", figure)) {
      const room = key.textContent.length * 7 + 34;
      if (x > 8 && x + room > width) [x, y] = [8, y + 20];
      const box = key.querySelector("i");
      const style = box && getComputedStyle(box);
      if (box?.classList.contains("tick")) {
        head.push(`<line x1="${x}" x2="${x + 14}" y1="${y - 4}" y2="${y - 4}" stroke="${style.borderTopColor}" stroke-width="2.5"/>`);
      } else if (box) {
        head.push(`<rect x="${x}" y="${y - 10}" width="12" height="12" fill="${style.backgroundColor}"/>`);
      }
      head.push(`<text x="${x + (box ? 19 : 0)}" y="${y}" font-size="12" fill="${ink}"></text>`);
      x += room;
    }
    const top = y + 12;
    const page = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    page.setAttribute("width", width);
    page.setAttribute("height", height + top);
    page.setAttribute("viewBox", `0 0 ${width} ${height + top}`);
    page.setAttribute("font-family", "sans-serif");
    page.innerHTML = `<rect width="100%" height="100%" fill="${getComputedStyle(document.body).backgroundColor}"/>${head.join("")}`;
    const words = [figure.dataset.title, ...all(".key", figure).map((key) => key.textContent)];
    all("text", page).forEach((text, place) => { text.textContent = words[place]; });
    copy.setAttribute("y", top);
    page.append(copy);
    return new XMLSerializer().serializeToString(page);
  };

  // The whole number of a cell, or its words without signs and drawings, folded up or not.
  const value = (cell) => {
    if (cell.dataset.value !== undefined) return cell.dataset.value;
    const copy = cell.cloneNode(true);
    for (const sign of all("[aria-hidden], svg", copy)) sign.remove();
    return copy.textContent.trim().replace(/\s+/g, " ");
  };

  const csv = (table) => {
    const field = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const rows = all("tr", table).filter((row) => !row.matches(".why"));
    return rows.map((row) => [...row.cells].map((cell) => field(value(cell))).join(",")).join("\n") + "\n";
  };

  const saveFigure = (figure) => button("SVG", `Save the figure: ${figure.dataset.title}`,
    () => save(file(figure.dataset.title, ".svg"), "image/svg+xml", alone(figure)));
  const label = (table) => (table.matches(".claims") ? "Claims CSV" : table.dataset.short ? `${table.dataset.short} CSV` : "CSV");
  const saveTable = (table) => button(label(table), `Save the table: ${table.dataset.title}`,
    () => save(file(table.dataset.title, ".csv"), "text/csv", csv(table)));
  // Buttons stand together at the head of a part, or each below its own where there are several of a kind.
  const parts = "section:not(#hangs-on), .choice, .system, .arrays";
  const equip = (part) => {
    const own = (element) => element.closest(parts) === part;
    const figures = all("figure", part).filter(own);
    const tables = all("table[data-title]", part).filter(own);
    const head = part.querySelector("h2, .scroll, .heats");
    if (figures.length > 1) {
      for (const figure of figures) tools(figure, saveFigure(figure));
      for (const table of tables) tools(table.closest(".scroll") ?? table, saveTable(table));
    } else if (figures.length + tables.length > 0) {
      tools(head, ...figures.map(saveFigure), ...tables.map(saveTable));
    }
  };

  // The map of an array of counters, from the text of its numbers. They are named by numbers after the first's name.
  const draw = (table) => {
    const body = table.tBodies[0];
    const values = body.textContent.trim().split(" ");
    const most = Math.max(...values.map(Number));
    const [, name, digits] = /^(.*?)(\d*)$/.exec(table.dataset.first);
    const row = 16;
    const head = table.createTHead().insertRow();
    const header = (line, text) => line.append(Object.assign(document.createElement(text === "" ? "td" : "th"), { textContent: text }));
    ["", ...Array(Math.min(row, values.length)).keys()].forEach((text) => header(head, text));
    body.replaceChildren();
    for (let from = 0; from < values.length; from += row) {
      const line = body.insertRow();
      header(line, from);
      values.slice(from, from + row).forEach((value, place) => {
        const cell = line.insertCell();
        cell.dataset.value = value;
        cell.title = `${name}${String(from + place).padStart(digits.length, "0")}: ${value}`;
        cell.style.setProperty("--share", `${most > 0 ? Math.round((100 * value) / most) : 0}%`);
      });
    }
  };
  const equipAll = (root) => {
    for (const part of within(root, parts)) {
      if (part.matches(".arrays")) {
        const unfold = () => { all("table[data-first]", part).forEach(draw); equip(part); };
        if (part.open) unfold();
        else part.addEventListener("toggle", unfold, { once: true });
      } else {
        equip(part);
      }
    }
  };

  // Numbers by size, largest first; words by the alphabet. A claim moves with all its rows.
  const sort = (table, column, head) => {
    const down = head.getAttribute("aria-sort") !== "descending" && !head.classList.contains("words") && column > 0;
    const descending = head.hasAttribute("aria-sort") ? head.getAttribute("aria-sort") === "ascending" : down;
    const bodies = [...table.tBodies];
    const units = table.classList.contains("claims") ? bodies : [...bodies[0].rows];
    const cell = (unit) => (unit.rows ? unit.rows[0] : unit).cells[column];
    const number = (text) => parseFloat(text.replace(/\s/g, ""));
    const key = (unit) => {
      const text = value(cell(unit));
      return [number(text), text];
    };
    const keyed = units.map((unit) => [key(unit), unit]);
    keyed.sort(([[a, one]], [[b, other]]) => {
      if (isNaN(a) || isNaN(b)) return isNaN(a) && isNaN(b) ? one.localeCompare(other) * (descending ? -1 : 1) : isNaN(a) - isNaN(b);
      return descending ? b - a : a - b;
    });
    all("th", table.tHead).forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", descending ? "descending" : "ascending");
    const parent = units[0]?.parentNode;
    keyed.forEach(([, unit]) => parent.insertBefore(unit, table.classList.contains("claims") ? table.tFoot : null));
  };
  const sortable = (table) => {
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      head.tabIndex = 0;
      head.addEventListener("click", () => sort(table, column, head));
      head.addEventListener("keydown", (event) => { if (event.key === "Enter") sort(table, column, head); });
    });
  };

  // What is wider than its frame fades at the sides where it goes on.
  const fade = (frame) => {
    const beyond = frame.scrollWidth - frame.clientWidth;
    frame.classList.toggle("more-right", frame.scrollLeft < beyond - 1);
    frame.classList.toggle("more-left", beyond > 1 && frame.scrollLeft > 1);
  };
  const resized = new ResizeObserver((entries) => entries.forEach((entry) => fade(entry.target)));
  const fading = (frame) => {
    frame.addEventListener("scroll", () => fade(frame), { passive: true });
    resized.observe(frame);
  };

  // The numbers of an axis stay where a wide figure is scrolled.
  const keepAxis = (plot) => {
    const axis = plot.querySelector(".axis");
    plot.addEventListener("scroll", () => axis?.setAttribute("transform", `translate(${plot.scrollLeft} 0)`), { passive: true });
  };

  // Over time: a line through all tracks where the pointer is, and the numbers of its span.
  const follow = (tracks) => {
    const froms = tracks.dataset.from.split(" ").map(Number);
    const end = Number(tracks.dataset.end);
    const drawings = all(".field svg, .ribbon svg", tracks);
    const series = all("g[data-values]", tracks).map((g) => g.dataset.values.split(" "));
    const outputs = all("output", tracks);
    const at = tracks.querySelector(".at");
    const cursors = drawings.map((svg) => {
      const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
      line.setAttribute("class", "cursor");
      line.setAttribute("y2", svg.viewBox.baseVal.height);
      return line;
    });
    const leave = () => {
      cursors.forEach((line) => line.remove());
      outputs.forEach((output) => { output.textContent = ""; });
      at.textContent = "";
    };
    tracks.addEventListener("pointermove", (event) => {
      const box = drawings[0].getBoundingClientRect();
      const share = (event.clientX - box.left) / box.width;
      if (share < 0 || share > 1) { leave(); return; }
      const cycle = share * end;
      const next = froms.findIndex((from) => from > cycle);
      const place = next < 0 ? froms.length - 1 : Math.max(next - 1, 0);
      drawings.forEach((svg, which) => {
        for (const side of ["x1", "x2"]) cursors[which].setAttribute(side, share * svg.viewBox.baseVal.width);
        svg.append(cursors[which]);
      });
      outputs.forEach((output, which) => { output.textContent = series[which][place]; });
      const to = place + 1 < froms.length ? froms[place + 1] : end;
      at.textContent = `cycles ${froms[place]} to ${to}`;
    });
    tracks.addEventListener("pointerleave", leave);
  };

  // What the page begins with, and whatever takes the place of a part of it later.
  const dress = (root) => {
    equipAll(root);
    within(root, "table.sort").forEach(sortable);
    within(root, ".plot, .scroll, .heat").forEach(fading);
    within(root, ".plot").forEach(keepAxis);
    within(root, ".tracks").forEach(follow);
  };
  dress(document.documentElement);
  document.addEventListener("fresh", (event) => event.detail.forEach(dress));

  // A link to runs opens them.
  const open = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target) {
      const details = target.closest("details");
      if (details) details.open = true;
      target.scrollIntoView();
    }
  };
  addEventListener("hashchange", open);
  open();
})();
