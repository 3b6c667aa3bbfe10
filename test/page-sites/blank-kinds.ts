import type { Layout, PageStyle, Shown } from "./layout.ts";
import type { SiteKinds } from "./site.ts";
import { SITE_KINDS } from "./site-kinds.ts";

/** What stands between the parts of a line, and whether the line keeps its blanks. */
const GAPS: readonly (readonly [kind: string, gap: string, isPre?: boolean])[] = [
  ["spaces", "    ", true],
  ["columns", "", true],
  ["tab", "\t", true],
  ["single blank, preformatted", " ", true],
  ["no-break spaces", "&nbsp;&nbsp; "],
  ["em space", "&emsp;"],
  ["en spaces", "&ensp;&ensp;"],
  ["thin spaces", "&thinsp;&thinsp;&thinsp;"],
  ["ideographic spaces", "\u3000\u3000"],
  ["tab outside of preformatted text", "\t"],
  ["single blank", " "],
  ["one thin space", "&thinsp;"],
];

/** How the lines of a list follow each other. */
const FRAMES: readonly (readonly [kind: string, frame: (lines: readonly string[]) => string])[] = [
  ["line breaks", (lines) => `<p>${lines.join("<br>\n")}</p>`],
  ["paragraphs", (lines) => lines.map((line) => `<p>${line}</p>`).join("\n")],
  ["items", (lines) => `<ul>${lines.map((line) => `<li>${line}</li>`).join("")}</ul>`],
  ["cells", (lines) => `<table>${lines.map((line) => `<tr><td>${line}</td></tr>`).join("")}</table>`],
  ["an address element", (lines) => `<address>${lines.join("<br>")}</address>`],
];

const ORDERS = {
  "address last": ({ name, position, phone, mail }: Shown) => [name, position, phone, mail],
  "address in the middle": ({ name, position, phone, mail }: Shown) => [name, mail, position, phone],
  "address first": ({ name, position, phone, mail }: Shown) => [mail, name, position, phone],
};

function linesOf(shown: readonly Shown[], page: PageStyle, order: keyof typeof ORDERS, gap: string) {
  const rows = shown.map((one) => ORDERS[order](one));
  if (gap !== "") return rows.map((parts) => parts.filter((part) => part !== "").join(gap));
  const { name, position, phone, email } = page.words;
  const head = ORDERS[order]({ ...shown[0], name, position, phone, mail: email } as Shown);
  const shownLength = (part: string) => part.replace(/<[^>]*>/g, "").length;
  const widths = head.map(
    (_, at) => 3 + Math.max(...[head, ...rows].map((row) => shownLength(row[at] ?? ""))),
  );
  return [head, ...rows].map((row) =>
    row.map((part, at) => part + " ".repeat((widths[at] ?? 0) - shownLength(part))).join(""),
  );
}

const BLANKS: readonly Layout[] = GAPS.flatMap(([gapKind, gap, isPre = false]) =>
  (Object.keys(ORDERS) as (keyof typeof ORDERS)[]).flatMap((order) =>
    (isPre
      ? [["a preformatted text", (lines: readonly string[]) => `<pre>${lines.join("\n")}</pre>`] as const]
      : FRAMES
    ).map(
      ([frameKind, frame]): Layout => ({
        kind: `${gapKind}, ${order}, ${frameKind}`,
        render: (shown, page) => frame(linesOf(shown, page, order, gap)),
      }),
    ),
  ),
);

/** Lists of people in whose lines blanks alone separate name, position, phone and address. */
export const BLANK_KINDS: SiteKinds = {
  ...SITE_KINDS,
  layouts: BLANKS,
};
