import { each, type Layout, type Shown } from "./layout.ts";

export const TEXTS: readonly Layout[] = [
  {
    kind: "prose",
    render: (shown, page) =>
      each(shown, (one) => {
        const sentence = page.random.pick(page.language.prose);
        const text = sentence.replace(/\{(\w+)\}/g, (_, part: string) => partOf(one, part));
        return `<p>${page.filler()} ${text}</p>`;
      }),
    isWhole: true,
    isSentence: true,
  },
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
    kind: "flat, ruled",
    render: (shown, page) =>
      shown.map((one) => `<b>${one.name}</b><br>${page.lines(one).join("<br>")}`).join("<hr>\n"),
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

function partOf(one: Shown, part: string): string {
  if (part === "name") return one.name;
  if (part === "position") return one.position;
  return part === "mail" ? one.mail : one.phone;
}
