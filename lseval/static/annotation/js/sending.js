/* `data-once` on a form: it is sent once, and the page takes no key until the next one is there.

   What is sent is kept in this browser until there is a reply, and sent again with the same key: after a lost
   connection, while the server is down, and by the next page where this one was closed meanwhile. The
   `data-unsent="person"` notice says so. Without this script the form is sent as any other.

   A page that was just opened sends nothing for a moment, so that the second press of a key does not decide an item
   that nobody has seen; `data-ready` on the root says when it does. `lseval:wait` on the document makes it wait longer.

   Tells of itself on the document: `lseval:sending` with the form, `lseval:sent` with the draft's key, and
   `lseval:stays` where the page stays at its item. */

const GRACE_MS = 250;
const SLOW_MS = 4_000;
const PLAIN_KEYS = new Set(["Backspace", "Enter"]);
const REPLY_WITHIN_MS = 20_000;
const FIRST_WAIT_MS = 2_000;
const LONGEST_WAIT_MS = 30_000;

const notice = document.querySelector("[data-unsent]");
const KEPT = `lseval-unsent-${notice?.dataset.unsent}`;
const LOST = "There is no connection to the server.";
const DOWN = "The server did not take it.";
const SLOW = "The server is slow to answer.";
const LOGGED_OUT = "You are no longer logged in. Log in again in another window.";

let isSending = false;
let current = null; // the request that is on its way or waits to be sent again
let timer = 0;
let readyAt = 0;

function isReady() {
  return performance.now() >= readyAt;
}

function waitFor(ms) {
  readyAt = Math.max(readyAt, performance.now() + ms);
  delete document.documentElement.dataset.ready;
  setTimeout(() => isReady() && (document.documentElement.dataset.ready = ""), readyAt - performance.now() + 1);
}

function setSending(value) {
  isSending = value;
  if (value) document.documentElement.setAttribute("aria-busy", "true");
  else document.documentElement.removeAttribute("aria-busy");
}

/* The requests that wait for a reply, by their key: two windows of one person may each have one. */
function kept() {
  try {
    return JSON.parse(localStorage.getItem(KEPT) ?? "{}");
  } catch {
    return {};
  }
}

function keyOf(request) {
  return new Map(request.fields).get("request_key");
}

function store(requests) {
  // Storage is refused in some private windows; a request is then kept as long as its page is open.
  try {
    if (Object.keys(requests).length) localStorage.setItem(KEPT, JSON.stringify(requests));
    else localStorage.removeItem(KEPT);
  } catch {
    /* see above */
  }
}

function keep(request) {
  store({ ...kept(), [keyOf(request)]: request });
}

function forget(request) {
  const { [keyOf(request)]: _, ...others } = kept();
  store(others);
}

function token(request) {
  // After a new login the page's own token is stale, and the cookie holds the new one.
  return document.cookie.match(/(?:^|; )(?:__Host-|__Secure-)?csrftoken=([^;]+)/)?.[1] ?? request.token;
}

async function post(request) {
  const body = new URLSearchParams(request.fields);
  const headers = { Accept: "application/json", "X-CSRFToken": token(request) };
  const signal = AbortSignal.timeout(REPLY_WITHIN_MS);
  let reply;
  try {
    reply = await fetch(request.url, { method: "POST", body, headers, redirect: "manual", keepalive: true, signal });
    if (reply.ok) return { next: (await reply.json()).next };
  } catch {
    return { problem: LOST };
  }
  // 403: the cookie against forged requests went with the session, or the person has another role by now.
  if (reply.type === "opaqueredirect" || reply.status === 403) return { problem: LOGGED_OUT };
  if (reply.status >= 500) return { problem: DOWN };
  return {};
}

/* The server has something to say to this request: send it once more as a form, and the browser shows the reply. */
function sendPlainly(request) {
  const form = document.createElement("form");
  form.method = "post";
  form.action = request.url;
  form.hidden = true;
  for (const [name, value] of [...request.fields, ["csrfmiddlewaretoken", token(request)]]) {
    const field = document.createElement("input");
    [field.type, field.name, field.value] = ["hidden", name, value];
    form.append(field);
  }
  document.body.append(form);
  form.submit();
}

async function send(request, wait = FIRST_WAIT_MS) {
  clearTimeout(timer);
  current = request;
  keep(request);
  timer = setTimeout(() => tell(request, SLOW), SLOW_MS);
  const reply = await post(request);
  if (current !== request) return; // it was dropped meanwhile
  clearTimeout(timer);
  if (reply.problem) {
    tell(request, reply.problem);
    timer = setTimeout(() => send(request, Math.min(2 * wait, LONGEST_WAIT_MS)), wait);
    return;
  }
  forget(request);
  if (!reply.next) {
    stays();
    return sendPlainly(request);
  }
  if (!request.keepsDraft) document.dispatchEvent(new CustomEvent("lseval:sent", { detail: request.draft }));
  location.assign(reply.next);
}

function stays() {
  document.dispatchEvent(new CustomEvent("lseval:stays"));
}

function tell(request, problem) {
  stays();
  if (!notice) return;
  const what = request.word ? `Your decision “${request.word}”` : "What you sent";
  const text = `${problem} ${what} is kept in this browser and is sent again by itself until the server has it.`;
  const told = notice.querySelector("[data-unsent-told]");
  if (told.textContent !== text) told.textContent = text;
  notice.hidden = false;
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches("form[data-once]")) return;
  event.preventDefault();
  if (isSending || !isReady()) return;
  setSending(true);
  const all = [...new FormData(form, event.submitter)];
  send({
    url: form.action,
    fields: all.filter(([name]) => name !== "csrfmiddlewaretoken"),
    token: form.elements.csrfmiddlewaretoken.value,
    word: event.submitter?.dataset.word ?? "",
    draft: document.querySelector("form[data-draft]")?.dataset.draft ?? "",
    keepsDraft: form.matches("[data-keeps-draft]"),
  });
  document.dispatchEvent(new CustomEvent("lseval:sending", { detail: form }));
});

document.addEventListener(
  "keydown",
  (event) => {
    if (!isSending || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key.length > 1 && !PLAIN_KEYS.has(event.key)) return;
    // The notice's own buttons can still be pressed.
    if (event.target instanceof Element && event.target.closest("[data-unsent]")) return;
    event.stopImmediatePropagation();
    event.preventDefault();
  },
  { capture: true },
);

notice?.querySelector("[data-unsent-send]").addEventListener("click", () => current && send(current));
notice?.querySelector("[data-unsent-drop]").addEventListener("click", () => {
  clearTimeout(timer);
  if (current) forget(current);
  current = null;
  notice.hidden = true;
  setSending(false);
});
addEventListener("online", () => current && send(current));

// A page that comes back from the browser's history can be sent again.
addEventListener("pageshow", (event) => {
  if (event.persisted && !left()) setSending(false);
  if (event.persisted) stays();
});

function left() {
  return notice && Object.values(kept())[0];
}

document.addEventListener("lseval:wait", (event) => waitFor(event.detail));
waitFor(document.querySelector("form[data-goes-on]") ? GRACE_MS : 0);
const first = left();
if (first) {
  setSending(true);
  tell(first, "This was not sent yet.");
  send(first);
}
