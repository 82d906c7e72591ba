// Sets the stored theme before the first paint, so it is loaded without `defer` and imports nothing.
try {
  const stored = localStorage.getItem("kernelhub.theme");
  if (stored === "light" || stored === "dark") document.documentElement.dataset.theme = stored;
} catch {
  // Storage can be forbidden; the system's preference then holds.
}
document.documentElement.classList.add("js");
