/* `data-draft="key"` on a form keeps what is typed into its `data-draft-field` fields over a reload or a lost
   connection. A draft goes when the next page shows that it has been sent. */

const PREFIX = "lseval-draft-";
const SENT = "lseval-draft-sent";

function attempt(storage, action) {
  // Storage is refused in some private windows; there are no drafts then.
  try {
    return action(storage());
  } catch {
    return null;
  }
}

const local = (action) => attempt(() => localStorage, action);
const session = (action) => attempt(() => sessionStorage, action);
const form = document.querySelector("form[data-draft]");
const fields = form ? [...form.querySelectorAll("[data-draft-field]")] : [];

const sent = session((storage) => storage.getItem(SENT));
if (sent && sent !== form?.dataset.draft) local((storage) => storage.removeItem(PREFIX + sent));
session((storage) => storage.removeItem(SENT));

if (form) {
  const key = PREFIX + form.dataset.draft;
  const draft = JSON.parse(local((storage) => storage.getItem(key)) ?? "{}");
  for (const field of fields) if (!field.value && draft[field.name]) field.value = draft[field.name];

  form.addEventListener("input", (event) => {
    if (!event.target.matches("[data-draft-field]")) return;
    const values = Object.fromEntries(fields.map((field) => [field.name, field.value]));
    local((storage) => storage.setItem(key, JSON.stringify(values)));
  });
  document.addEventListener("submit", (event) => {
    if (!event.defaultPrevented) session((storage) => storage.setItem(SENT, form.dataset.draft));
  });
}
