/* `data-needs="id"` on a button: the field with that id must be filled in first. Also: Escape leaves a text field,
   and opening a `details` puts the cursor into its field. */

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-needs]");
  const field = button && document.getElementById(button.dataset.needs);
  if (!field || field.value) return;
  event.preventDefault();
  field.setAttribute("aria-invalid", "true");
  field.focus();
});

document.addEventListener("change", (event) => {
  if (event.target.value) event.target.removeAttribute("aria-invalid");
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && event.target.matches("textarea, input, select")) event.target.blur();
});

document.addEventListener(
  "toggle",
  (event) => {
    if (event.target.matches("details[open]")) event.target.querySelector("input, textarea")?.focus();
  },
  { capture: true },
);
