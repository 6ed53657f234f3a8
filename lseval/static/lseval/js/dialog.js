/* `data-opens="id"` opens that dialog, `data-closes` closes the one around it, and so does a click beside it. */

document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-opens]");
  if (opener) {
    const dialog = document.getElementById(opener.dataset.opens);
    if (dialog instanceof HTMLDialogElement && !dialog.open) dialog.showModal();
    return;
  }
  if (event.target.closest("[data-closes]")) {
    event.target.closest("dialog")?.close();
    return;
  }
  if (event.target instanceof HTMLDialogElement && isBeside(event.target, event)) event.target.close();
});

function isBeside(dialog, { clientX, clientY }) {
  const box = dialog.getBoundingClientRect();
  return clientX < box.left || clientX > box.right || clientY < box.top || clientY > box.bottom;
}
