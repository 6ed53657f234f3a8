/* `data-needs="id id"` on a button: the fields with these ids must be filled in first. Also: Escape leaves a text field,
   and opening a `details` puts the cursor into the field in it. */

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-needs]");
  const fields = button?.dataset.needs.split(" ").map((id) => document.getElementById(id));
  const field = fields?.find((needed) => !needed.value.trim());
  if (!field) return;
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

// At once, not on the later "toggle": what is typed right after the key belongs into the field.
document.addEventListener("click", (event) => {
  const details = event.target.closest("summary")?.parentElement;
  const field = details?.querySelector("input, textarea");
  if (!field) return;
  event.preventDefault();
  details.open = !details.open;
  if (details.open) field.focus();
});
