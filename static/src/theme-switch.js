// Cycles system → light → dark. The choice lies in this browser alone; theme.js applies it before the first paint.
const KEY = "kernelhub.theme";
const ORDER = ["system", "light", "dark"];

export function startThemeSwitch() {
  const button = document.querySelector("[data-theme-switch]");
  if (!button) return;
  let theme = document.documentElement.dataset.theme ?? "system";
  const show = () => { button.textContent = `Theme: ${theme}`; };
  button.hidden = false;
  show();
  button.addEventListener("click", () => {
    theme = ORDER[(ORDER.indexOf(theme) + 1) % ORDER.length];
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    try {
      if (theme === "system") localStorage.removeItem(KEY);
      else localStorage.setItem(KEY, theme);
    } catch {
      // Without storage the choice holds until the next page.
    }
    show();
    document.dispatchEvent(new CustomEvent("kernelhub:theme"));
  });
}
