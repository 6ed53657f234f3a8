/* `data-logout="person"` on the form that logs out: what that person has typed and not sent is forgotten in this
   browser. The other windows are told, so that what is typed there later is not kept again. A decision that waits for
   a connection stays: the person was promised that it is sent, and only their own pages read it. */

const DRAFTS = "lseval-draft-";

document.addEventListener("submit", (event) => {
  const person = event.target.dataset?.logout;
  if (!person) return;
  try {
    const drafts = Object.keys(localStorage).filter((key) => key.startsWith(`${DRAFTS}${person}-`));
    for (const key of drafts) localStorage.removeItem(key);
    // Written and removed again: the other windows hear of the writing, and nothing stays.
    localStorage.setItem("lseval-logged-out", person);
    localStorage.removeItem("lseval-logged-out");
  } catch {
    /* Storage is refused in some private windows; there are no drafts then. */
  }
});
