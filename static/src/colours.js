// Colours of the page for charts: the custom properties hold light-dark(), which only a computed colour resolves.
export function colour(name) {
  const probe = document.createElement("span");
  probe.className = `colour-${name}`;
  document.body.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}

export const coloursOf = (...names) => Object.fromEntries(names.map((name) => [name, colour(name)]));
