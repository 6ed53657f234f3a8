/* `data-once` on a form: it is sent once, and the page takes no key until the next one is there.

   What cannot be sent, for lack of a connection or because the server is down, is kept in this browser and sent again
   with the same key until there is a reply; the `data-unsent="person"` notice says so. Without this script the form
   is sent as any other.

   Tells of itself on the document: `lseval:sending` with the form, `lseval:sent` with the draft's key, and
   `lseval:stays` where the page stays at its item. */

const PLAIN_KEYS = new Set(["Backspace", "Enter"]);
const REPLY_WITHIN_MS = 20_000;
const FIRST_WAIT_MS = 2_000;
const LONGEST_WAIT_MS = 30_000;

const notice = document.querySelector("[data-unsent]");
const KEPT = `lseval-unsent-${notice?.dataset.unsent}`;
const LOST = "There is no connection to the server.";
const DOWN = "The server did not take it.";
const LOGGED_OUT = "You are no longer logged in. Log in again in another window.";

let isSending = false;
let current = null; // the request that is on its way or waits to be sent again
let timer = 0;

function setSending(value) {
  isSending = value;
  if (value) document.documentElement.setAttribute("aria-busy", "true");
  else document.documentElement.removeAttribute("aria-busy");
}

function kept() {
  try {
    return JSON.parse(localStorage.getItem(KEPT) ?? "null");
  } catch {
    return null;
  }
}

function keep(request) {
  // Storage is refused in some private windows; the request is then kept as long as this page is open.
  try {
    if (request) localStorage.setItem(KEPT, JSON.stringify(request));
    else localStorage.removeItem(KEPT);
  } catch {
    /* see above */
  }
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
    reply = await fetch(request.url, { method: "POST", body, headers, redirect: "manual", signal });
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
  const reply = await post(request);
  if (current !== request) return; // it was dropped meanwhile
  if (reply.problem) {
    keep(request);
    tell(request, reply.problem);
    timer = setTimeout(() => send(request, Math.min(2 * wait, LONGEST_WAIT_MS)), wait);
    return;
  }
  keep(null);
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
  if (isSending) return;
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
  current = null;
  keep(null);
  notice.hidden = true;
  setSending(false);
});
addEventListener("online", () => current && send(current));

// A page that comes back from the browser's history can be sent again.
addEventListener("pageshow", (event) => {
  if (event.persisted && !kept()) setSending(false);
  if (event.persisted) stays();
});

const left = notice && kept();
if (left) {
  setSending(true);
  tell(left, "This was not sent yet.");
  send(left);
}
