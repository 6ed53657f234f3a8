/* Seconds on the item into the `data-clock` fields, counted only while the page is seen and somebody is at it. A reload
   of the same item goes on counting. */

const IDLE_AFTER_MS = 60_000;
const TICK_MS = 1000;

const KEY = `lseval-clock-${document.querySelector("form[data-draft]")?.dataset.draft}`;

let activeMs = 0;
try {
  activeMs = Number(sessionStorage.getItem(KEY)) || 0;
} catch {
  /* No storage: a reload begins anew. */
}
let lastTick = performance.now();
let lastSign = lastTick;

function count() {
  const now = performance.now();
  const isAt = document.visibilityState === "visible" && now - lastSign < IDLE_AFTER_MS;
  // A machine that slept wakes with one long tick, which was no work.
  if (isAt) activeMs += Math.min(now - lastTick, 2 * TICK_MS);
  lastTick = now;
}

for (const sign of ["pointermove", "pointerdown", "keydown", "wheel", "touchmove"]) {
  addEventListener(sign, () => (lastSign = performance.now()), { passive: true });
}
setInterval(count, TICK_MS);
addEventListener("pagehide", () => {
  count();
  try {
    sessionStorage.setItem(KEY, String(Math.round(activeMs)));
  } catch {
    /* see above */
  }
});
document.addEventListener("lseval:sent", () => (activeMs = 0));

document.addEventListener(
  "submit",
  () => {
    count();
    for (const field of document.querySelectorAll("[data-clock]")) field.value = (activeMs / 1000).toFixed(1);
  },
  { capture: true },
);
