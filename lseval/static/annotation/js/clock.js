/* Seconds on the page into the `data-clock` fields, counted only while the page is seen and somebody is at it. */

const IDLE_AFTER_MS = 60_000;
const TICK_MS = 1000;

let activeMs = 0;
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

document.addEventListener(
  "submit",
  () => {
    count();
    for (const field of document.querySelectorAll("[data-clock]")) field.value = (activeMs / 1000).toFixed(1);
  },
  { capture: true },
);
