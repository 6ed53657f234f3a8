/* `data-dismiss` removes the `data-dismissible` element around it and keeps the keyboard's place on the page. */

document.addEventListener("click", (event) => {
  const message = event.target.closest("[data-dismiss]")?.closest("[data-dismissible]");
  if (!message) return;
  const next = message.nextElementSibling ?? message.previousElementSibling;
  message.remove();
  (next?.querySelector("[data-dismiss]") ?? document.getElementById("content"))?.focus({ preventScroll: true });
});
