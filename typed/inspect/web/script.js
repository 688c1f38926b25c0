"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const live = $("live"), pause = $("pause"), query = $("q"), matches = $("matches");

  // filter shows the informers whose text has all the words that were typed.
  function filter() {
    const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0, all = 0;
    for (const row of document.querySelectorAll("#informers > .row")) {
      row.hidden = !words.every((word) => row.dataset.text.includes(word));
      all++;
      shown += row.hidden ? 0 : 1;
    }
    const text = words.length ? shown + " of " + all : "";
    if (matches.textContent !== text) matches.textContent = text;
  }

  // put has the element of an id be what the server has sent, and keeps what is open and
  // where the focus is.
  function put(id, html, into) {
    const made = document.createElement("template");
    made.innerHTML = html;
    const fresh = made.content.firstElementChild, old = $(id);
    if (!old) return into && into.append(fresh);
    const focused = old.contains(document.activeElement) && document.activeElement;
    const inside = focused && [...old.querySelectorAll("a, summary")].indexOf(focused);
    for (const was of [old, ...old.querySelectorAll("details")]) {
      const is = fresh.id === was.id ? fresh : was.id && fresh.querySelector("#" + was.id);
      if (is && was.open) is.open = true;
    }
    old.replaceWith(fresh);
    if (focused) ([...fresh.querySelectorAll("a, summary")][inside] || fresh).focus({ preventScroll: true });
  }

  // arrange has the children of a list be those of some ids, in their order.
  function arrange(list, ids) {
    const wanted = new Set(ids);
    for (const child of [...list.children]) if (child.id && !wanted.has(child.id)) child.remove();
    let at = list.firstElementChild;
    for (const id of ids) {
      const child = $(id);
      if (child === at) at = at.nextElementSibling;
      else if (child) list.insertBefore(child, at);
    }
  }

  function show(update) {
    for (const list of update.lists) {
      const into = $(list.id);
      for (const id of list.parts) if (update.html[id]) put(id, update.html[id], into);
      if (into && !into.contains(document.activeElement)) arrange(into, list.parts);
      if (into && into.matches(".parts")) into.closest("section").hidden = !list.parts.length;
    }
    for (const id of ["problems", "totals"]) if (update.html[id]) put(id, update.html[id]);
    document.title = update.title;
    live.textContent = "Live, " + update.clock;
    filter();
    document.body.dataset.updates = 1 + Number(document.body.dataset.updates || 0);
  }

  let source = null;
  function listen() {
    const address = new URL(location.href);
    address.hash = "";
    address.searchParams.set("events", "page");
    source = new EventSource(address);
    source.onmessage = (event) => show(JSON.parse(event.data));
    source.onerror = () => { live.textContent = live.textContent.replace(/^Live/, "Not live") };
  }
  function toggle() {
    if (source) {
      source.close();
      source = null;
      live.textContent = live.textContent.replace(/^Live/, "Paused");
    } else {
      listen();
    }
    pause.textContent = source ? "Pause" : "Go on";
  }

  // reveal opens what a link leads to.
  function reveal() {
    const target = location.hash && $(location.hash.slice(1));
    if (!target) return;
    const part = target.closest("details, .part") || target;
    part.hidden = false;
    part.open = true;
    part.scrollIntoView();
    (part.querySelector("summary") || part).focus({ preventScroll: true });
  }

  query.addEventListener("input", filter);
  addEventListener("hashchange", reveal);
  pause.addEventListener("click", toggle);
  pause.hidden = false;
  filter();
  reveal();
  listen();
  document.body.dataset.script = "ready";
})();
