import { each, type Layout } from "./layout.ts";

export const TEXTS: readonly Layout[] = [
  {
    kind: "paragraph with breaks",
    render: (shown, page) =>
      each(shown, (one) => `<p><strong>${one.name}</strong><br>${page.lines(one).join("<br>\n")}</p>`),
  },
  {
    kind: "paragraph with breaks, no emphasis",
    render: (shown, page) =>
      each(shown, (one) => `<p>${one.name}<br />${page.lines(one).join("<br />")}</p>`),
  },
  {
    kind: "flat headings",
    render: (shown, page) =>
      each(
        shown,
        (one) =>
          `<h3>${one.name}</h3>${page
            .lines(one)
            .map((line) => `<p>${line}</p>`)
            .join("")}`,
      ),
  },
  {
    kind: "name and address in brackets",
    render: (shown) =>
      each(
        shown,
        ({ name, position, mail }) =>
          `<p>${name}${position === "" ? "" : `, ${position}`} (${mail === "" ? "&nbsp;" : mail})</p>`,
      ),
    hides: ["phone"],
    isSentence: true,
  },
];
