/* `data-draft="key"` on a form keeps what is typed into its `data-draft-field` fields over a reload or a lost
   connection, until the server has taken it or the person logs out. The key begins with the person's id, so that
   nobody else who uses this browser is shown it. */

const PREFIX = "lseval-draft-";

function local(action) {
  // Storage is refused in some private windows; there are no drafts then.
  try {
    return action(localStorage);
  } catch {
    return null;
  }
}

const form = document.querySelector("form[data-draft]");
const fields = form ? [...form.querySelectorAll("[data-draft-field]")] : [];

document.addEventListener("lseval:sent", (event) => local((storage) => storage.removeItem(PREFIX + event.detail)));

if (form) {
  const key = PREFIX + form.dataset.draft;
  const draft = JSON.parse(local((storage) => storage.getItem(key)) ?? "{}");
  for (const field of fields) if (!field.value && draft[field.name]) field.value = draft[field.name];

  let isKept = true;
  addEventListener("storage", (event) => {
    if (event.key === "lseval-logged-out" && form.dataset.draft.startsWith(`${event.newValue}-`)) isKept = false;
  });

  form.addEventListener("input", (event) => {
    if (!isKept || !event.target.matches("[data-draft-field]")) return;
    const values = Object.fromEntries(fields.map((field) => [field.name, field.value]));
    local((storage) => storage.setItem(key, JSON.stringify(values)));
  });
}
