/* `data-once` on a form: it is sent once, and the page takes no key until the next one is there. */

const PLAIN_KEYS = new Set(["Backspace", "Enter"]);
let isSending = false;

document.addEventListener("submit", (event) => {
  if (!event.target.matches("form[data-once]")) return;
  if (isSending) {
    event.preventDefault();
    return;
  }
  isSending = true;
  document.documentElement.setAttribute("aria-busy", "true");
});

document.addEventListener(
  "keydown",
  (event) => {
    if (!isSending || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key.length > 1 && !PLAIN_KEYS.has(event.key)) return;
    event.stopImmediatePropagation();
    event.preventDefault();
  },
  { capture: true },
);

// A page that comes back from the browser's history can be sent again.
addEventListener("pageshow", () => {
  isSending = false;
  document.documentElement.removeAttribute("aria-busy");
});
