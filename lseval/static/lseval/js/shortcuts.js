/* `data-shortcut="c"` lets a single key press the control, `data-shortcut="c 1"` either of two. `data-shortcuts-switch` is the checkbox that turns
   them off, which WCAG 2.1.4 asks for wherever a single character acts. */

const KEY = "lseval-shortcuts";
const TYPING = "input:not([type=radio], [type=checkbox], [type=button], [type=submit]), textarea, select, [contenteditable]";

const PRESSED_BY_ENTER = `a, button, summary, ${TYPING}`;

let areOn = true;
try {
  areOn = localStorage.getItem(KEY) !== "off";
} catch {
  /* No storage: they stay on for this page. */
}

function showSwitches() {
  for (const box of document.querySelectorAll("[data-shortcuts-switch]")) box.checked = areOn;
  document.documentElement.dataset.shortcuts = areOn ? "on" : "off";
}

function controlFor(key) {
  const scope = document.querySelector("dialog[open]") ?? document;
  for (const control of scope.querySelectorAll("[data-shortcut]")) {
    if (control.dataset.shortcut.split(" ").includes(key) && !control.disabled && control.checkVisibility()) return control;
  }
  return null;
}

document.addEventListener("change", (event) => {
  if (!event.target.matches("[data-shortcuts-switch]")) return;
  areOn = event.target.checked;
  try {
    localStorage.setItem(KEY, areOn ? "on" : "off");
  } catch {
    /* No storage: the choice lasts for this page. */
  }
  showSwitches();
});

function press(event) {
  // A key held down must not label one item after another.
  if (!areOn || event.repeat || event.defaultPrevented || event.isComposing) return;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target instanceof Element && event.target.closest(event.key === "Enter" ? PRESSED_BY_ENTER : TYPING)) return;
  const control = controlFor(event.key.length === 1 ? event.key.toLowerCase() : event.key);
  if (!control) return;
  event.preventDefault();
  if (control.matches(TYPING)) control.focus();
  else control.click();
}

// Once all scripts of the page have run: a key that came before them would be only half obeyed.
addEventListener("DOMContentLoaded", () => document.addEventListener("keydown", press));
showSwitches();
