/* `data-ahead="url"` on a form: while the person looks at this item, the server prepares the one that likely comes next.
   Nothing of it comes here, nobody is given it, and no time begins. */

const AFTER_MS = 1_500;

const form = document.querySelector("form[data-ahead]");
if (form) {
  setTimeout(() => {
    if (document.visibilityState === "visible") fetch(form.dataset.ahead).catch(() => {});
  }, AFTER_MS);
}
