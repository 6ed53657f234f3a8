/* `data-heartbeat="url"` on a form keeps its item while somebody is at the page, and tells them when it is gone. */

const AT_WORK_MS = 5 * 60_000;

const form = document.querySelector("form[data-heartbeat]");
let lastSign = performance.now();
let timer = 0;

function tell(message) {
  const notice = document.querySelector("[data-heartbeat-told]");
  if (!notice) return;
  notice.lastElementChild.textContent = message;
  notice.hidden = !message;
}

async function beat() {
  if (document.visibilityState !== "visible" || performance.now() - lastSign > AT_WORK_MS) return;
  const body = new URLSearchParams({ slot: form.elements.slot.value });
  const headers = { "X-CSRFToken": form.elements.csrfmiddlewaretoken.value };
  let reply;
  try {
    reply = await fetch(form.dataset.heartbeat, { method: "POST", body, headers, redirect: "manual" });
  } catch {
    tell("There is no connection. What you type is kept in this browser; go on when it is back.");
    return;
  }
  if (reply.type === "opaqueredirect") {
    tell("You have been logged out. What you type is kept in this browser; log in again and go on.");
    return;
  }
  if (reply.ok) tell("");
  if (reply.status !== 409) return;
  clearInterval(timer);
  tell((await reply.json()).message);
}

if (form) {
  for (const sign of ["pointermove", "pointerdown", "keydown", "wheel", "touchmove"]) {
    addEventListener(sign, () => (lastSign = performance.now()), { passive: true });
  }
  timer = setInterval(beat, Number(form.dataset.heartbeatEvery) * 1000);
}
