"use strict";
// Keeps the page up to date: the server says that something has changed, and the page is asked for again. Of what came, only the
// blocks that differ are replaced, so that what was unfolded, sorted or scrolled elsewhere stays.
(() => {
  const topics = (document.body.dataset.topics ?? "").split(" ").filter(Boolean);
  const sign = document.querySelector(".live");
  if (topics.length === 0 || !sign) return;

  const BLOCKS = "body > header, body > nav.parts, main > *";
  const MAIN = "main > *";
  const all = (root, selector) => [...root.querySelectorAll(selector)];
  // As the server has written them: the page's own script adds to them later.
  const sources = new WeakMap();
  const remember = (blocks) => { for (const block of blocks) sources.set(block, block.outerHTML); };
  remember(all(document, BLOCKS));

  const say = (text, state) => {
    sign.className = `live ${state}`;
    if (sign.textContent !== text) sign.textContent = text;
  };

  // What a reader has done to a block that another takes the place of.
  const name = (details) => details.id || details.querySelector("summary")?.textContent;
  const carry = (from, to) => {
    const open = new Set(all(from, "details[open]").map(name));
    for (const details of all(to, "details")) if (open.has(name(details))) details.open = true;
    if (from.matches("details[open]") && to.matches("details")) to.open = true;
    const scrolled = all(from, ".scroll, .plot").map((frame) => frame.scrollLeft);
    return () => all(to, ".scroll, .plot").forEach((frame, place) => { frame.scrollLeft = scrolled[place] ?? 0; });
  };
  const FOCUSED = "a[href], button, input, summary, [tabindex]";
  const focused = (block) => {
    const at = document.activeElement;
    if (!at || !block.contains(at)) return undefined;
    const place = all(block, FOCUSED).indexOf(at);
    const href = at.getAttribute("href");
    const value = at.matches("input") ? at.value : undefined;
    return (next) => {
      const same = href && all(next, FOCUSED).find((other) => other.getAttribute("href") === href);
      const to = next.matches(FOCUSED) && place < 0 ? next : same ?? all(next, FOCUSED)[place];
      if (value !== undefined && to?.matches("input")) to.value = value;
      to?.focus({ preventScroll: true });
    };
  };
  const replace = (old, next) => {
    const focus = focused(old);
    const scroll = carry(old, next);
    old.replaceWith(next);
    scroll();
    focus?.(next);
  };

  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets.push(sheet);
  const fresh = [];
  const show = (text) => {
    // The policy of this page allows the style that it came with and no other, not even in a page that is only parsed. Sheets
    // that a script makes are its own.
    const style = /<style>([^<]*)<\/style>/;
    document.head.querySelector("style")?.remove();
    sheet.replaceSync(style.exec(text)?.[1] ?? "");
    const page = new DOMParser().parseFromString(text.replace(style, ""), "text/html");
    document.title = page.title;
    document.body.dataset.topics = page.body.dataset.topics ?? "";
    const before = all(document, BLOCKS);
    const after = all(page, BLOCKS);
    const kind = (block) => `${block.tagName}#${block.id}`;
    const alike = before.length === after.length && before.every((block, place) => kind(block) === kind(after[place]));
    remember(after);
    fresh.length = 0;
    if (alike) {
      before.forEach((old, place) => {
        const next = after[place];
        if (sources.get(old) === sources.get(next)) return;
        const source = sources.get(next);
        document.adoptNode(next);
        sources.set(next, source);
        replace(old, next);
        fresh.push(next);
      });
    } else {
      const outside = "body > header, body > nav.parts";
      for (const old of all(document, outside)) old.remove();
      const main = document.querySelector("main");
      main.before(...all(page, outside));
      const kept = new Map(all(document, MAIN).map((block) => [sources.get(block), block]));
      const ids = new Map(all(document, MAIN).filter((block) => block.id).map((block) => [block.id, block]));
      const blocks = all(page, MAIN).map((next) => {
        const same = kept.get(sources.get(next));
        if (same) return same;
        if (ids.has(next.id)) carry(ids.get(next.id), next);
        fresh.push(next);
        return next;
      });
      main.replaceChildren(...blocks);
    }
    if (fresh.length > 0) document.dispatchEvent(new CustomEvent("fresh", { detail: [...fresh] }));
  };

  let known;
  let wanted = false;
  let busy = false;
  const update = async () => {
    if (busy || !wanted || document.hidden) return;
    [busy, wanted] = [true, false];
    try {
      const answer = await fetch(location.pathname + location.search, { cache: "no-cache" });
      if (answer.headers.get("content-type")?.startsWith("text/html") && answer.status < 500 && answer.status !== 401) {
        show(await answer.text());
        say("Live", "on");
      } else {
        say(`The server answers with ${answer.status}`, "off");
      }
    } catch {
      say("Not connected", "off");
    }
    busy = false;
    setTimeout(update, 700);
  };

  // A tab that nobody sees holds no connection: browsers have few for one server.
  let source;
  const listen = () => {
    source = new EventSource("/events");
    source.onopen = () => say("Live", "on");
    source.onmessage = ({ data }) => {
      const news = JSON.parse(data);
      wanted ||= known === undefined || topics.some((topic) => news[topic] !== known[topic]);
      known = news;
      update();
    };
    source.onerror = () => {
      say("Not connected", "off");
      if (source.readyState === EventSource.CLOSED) setTimeout(() => { if (!document.hidden) { source.close(); listen(); } }, 5000);
    };
  };
  const look = () => {
    source?.close();
    if (!document.hidden) listen();
  };
  document.addEventListener("visibilitychange", look);
  addEventListener("pagehide", () => source?.close());
  addEventListener("pageshow", (event) => { if (event.persisted) look(); });
  look();
})();
