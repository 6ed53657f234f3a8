/* `data-ahead="url"` on a form: while the person looks at this item, the one that likely comes next is fetched. It is
   shown as soon as a `data-goes-on` form is sent, until the page of the item that was given comes: usually the same.

   What is fetched cannot be decided, and nobody is given it: no lease and no time begins before that page is here.
   Where another item comes after all, its page says so (`data-another-told`) and takes no key for a moment. */

const SHOWN_AHEAD = "lseval-shown-ahead";
const REMEMBERED_MS = 10_000;
const LOOK_MS = 1_500;
const AFTER_MS = 500;
const FRESH_MS = 5 * 60_000; // later somebody else of the role may well have it

const form = document.querySelector("form[data-ahead]");
const shown = document.querySelector(".evidence");
let next = null;
let fetchedAt = 0;
let left = null; // how the page was left: where it was scrolled to, and what had the focus

async function fetchNext() {
  if (navigator.connection?.saveData) return;
  if (document.visibilityState !== "visible") {
    document.addEventListener("visibilitychange", fetchNext, { once: true });
    return;
  }
  try {
    // Whoever has been logged out meanwhile is sent to the log-in: not followed, since that page sets a cookie.
    const reply = await fetch(form.dataset.ahead, { redirect: "manual" });
    if (reply.status !== 200) return;
    const template = document.createElement("template");
    template.innerHTML = await reply.text();
    next = template.content.querySelector(".evidence");
    fetchedAt = performance.now();
  } catch {
    /* The next page comes all the same, only not at once. */
  }
}

/* The item's frame is that of this page: how far the queue is, and the buttons, which do nothing yet. */
function framed(item) {
  const task = item.querySelector(".evidence-task");
  task.prepend(shown.querySelector(".item-head").cloneNode(true));
  if (item.dataset.kind === shown.dataset.kind) {
    const buttons = form.cloneNode(true);
    for (const field of buttons.querySelectorAll("input, textarea")) field.value = "";
    for (const opened of buttons.querySelectorAll("details[open]")) opened.open = false;
    task.append(buttons);
  }
  for (const part of item.querySelectorAll("[id]")) part.removeAttribute("id");
  for (const part of item.querySelectorAll("[data-find][hidden]")) part.hidden = false;
  item.inert = true;
  return item;
}

function show() {
  if (!next || left || performance.now() - fetchedAt > FRESH_MS) return;
  left = { top: scrollY, focused: document.activeElement };
  if (!next.inert) framed(next);
  shown.hidden = true;
  shown.after(next);
  scrollTo(0, 0);
}

function goBack() {
  if (!left) return;
  next.remove();
  shown.hidden = false;
  left.focused?.focus({ preventScroll: true });
  scrollTo(0, left.top);
  left = null;
}

function remember() {
  if (!left) return;
  try {
    sessionStorage.setItem(SHOWN_AHEAD, JSON.stringify({ slot: next.dataset.slot, top: scrollY, at: Date.now() }));
  } catch {
    /* No storage: the page begins at its top. */
  }
}

function compare() {
  let ahead = null;
  try {
    ahead = JSON.parse(sessionStorage.getItem(SHOWN_AHEAD));
    sessionStorage.removeItem(SHOWN_AHEAD);
  } catch {
    /* see above */
  }
  const slot = form?.elements.slot.value;
  if (!ahead || !slot || Date.now() - ahead.at > REMEMBERED_MS) return;
  if (ahead.slot === slot) {
    scrollTo(0, ahead.top);
    return;
  }
  document.querySelector("[data-another-told]").hidden = false;
  document.dispatchEvent(new CustomEvent("lseval:wait", { detail: LOOK_MS }));
}

compare();
addEventListener("pagehide", remember);
if (form && shown) {
  setTimeout(fetchNext, AFTER_MS);
  document.addEventListener("lseval:sending", (event) => event.detail.matches("[data-goes-on]") && show());
  document.addEventListener("lseval:stays", goBack);
}
