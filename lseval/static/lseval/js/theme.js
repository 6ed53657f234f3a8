/* Light, dark, or as the system says. Loaded before the page paints, so that a chosen theme never flashes. */
(() => {
  const KEY = "lseval-theme";
  const CHOICES = ["auto", "light", "dark"];
  const NAMES = { auto: "as the system", light: "light", dark: "dark" };
  const root = document.documentElement;

  // Storage is refused in some private windows; the choice then lasts for one page.
  const stored = () => {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null;
    }
  };
  const store = (choice) => {
    try {
      localStorage.setItem(KEY, choice);
    } catch {
      /* Nothing to do: the page already shows the choice. */
    }
  };

  let choice = CHOICES.includes(stored()) ? stored() : "auto";

  const show = () => {
    if (choice === "auto") delete root.dataset.theme;
    else root.dataset.theme = choice;
    for (const button of document.querySelectorAll("[data-theme-toggle]")) {
      button.dataset.choice = choice;
      button.setAttribute("aria-label", `Theme: ${NAMES[choice]}`);
      button.title = `Theme: ${NAMES[choice]}`;
      button.hidden = false;
    }
  };

  show();
  document.addEventListener("DOMContentLoaded", show);
  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-theme-toggle]")) return;
    choice = CHOICES[(CHOICES.indexOf(choice) + 1) % CHOICES.length];
    store(choice);
    show();
  });
})();
