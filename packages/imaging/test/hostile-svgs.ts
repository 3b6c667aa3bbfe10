/** SVGs by name that keep a renderer busy, or try to make it read a file or fetch a URL. */
export function hostileSvgs(): Record<string, string> {
  const blurs = '<feGaussianBlur stdDeviation="200"/>'.repeat(60);
  const circles = Array.from(
    { length: 300_000 },
    (_, index) => `<circle cx="${(index * 7) % 4000}" cy="${(index * 13) % 4000}" r="900" opacity=".01"/>`,
  );
  return {
    "sixty chained blurs of 4000 by 4000": svg(
      4000,
      `<filter id="f" x="0" y="0" width="1" height="1">${blurs}</filter>` +
        '<rect width="4000" height="4000" fill="red" filter="url(#f)"/>',
    ),
    "300,000 large circles": svg(4000, circles.join("")),
    "a text of two million letters": svg(
      2000,
      `<text y="50" font-size="40" textLength="1000">${"Mm".repeat(1_000_000)}</text>`,
    ),
    "a use tree of 10^12 leaves": svg(
      1000,
      `<defs><circle id="n0" r="5"/>${useTree(12, 10)}</defs><use href="#n12"/>`,
    ),
    "ten billion entities": `<!DOCTYPE svg [<!ENTITY e0 "lol">${entityTower(10)}]>${svg(100, "<text>&e10;</text>")}`,
    "one long entity ten thousand times": `<!DOCTYPE svg [<!ENTITY e "${"x".repeat(50_000)}">]>${svg(
      100,
      `<text>${"&e;".repeat(10_000)}</text>`,
    )}`,
    "groups nested 100,000 deep": svg(100, "<g>".repeat(100_000) + "</g>".repeat(100_000)),
  };
}

/** An SVG of a square, `side` user units wide. */
export function svg(side: number, content: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${side}" height="${side}">${content}</svg>`;
}

function useTree(levels: number, width: number): string {
  return Array.from(
    { length: levels },
    (_, level) => `<g id="n${level + 1}">${`<use href="#n${level}"/>`.repeat(width)}</g>`,
  ).join("");
}

function entityTower(levels: number): string {
  return Array.from(
    { length: levels },
    (_, level) => `<!ENTITY e${level + 1} "${`&e${level};`.repeat(10)}">`,
  ).join("");
}
