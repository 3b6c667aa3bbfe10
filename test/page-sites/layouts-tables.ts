import { each, type Layout, type Shown, wrap } from "./layout.ts";

const row = (cells: readonly string[], tag = "td") =>
  `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join("")}</tr>`;
const heads = (cells: readonly string[], isHead = true) =>
  isHead ? `<thead>${row(cells, "th")}</thead>` : row(cells.map((cell) => `<b>${cell}</b>`));
const mailCell = ({ mail }: Shown) => (mail === "" ? "&nbsp;" : mail);

export const TABLES: readonly Layout[] = [
  {
    kind: "table with headings",
    render: (shown, { words }) =>
      `<table>${heads([words.name, words.position, words.phone, words.email])}<tbody>${each(shown, (one) =>
        row([one.name, one.position, one.phone, mailCell(one)]),
      )}</tbody></table>`,
  },
  {
    kind: "table, columns in another order",
    render: (shown, { words, random }) => {
      const columns = random.shuffled(["room", "phone", "email", "name", "position"] as const);
      const cell = (one: Shown, column: (typeof columns)[number]) =>
        ({
          room: `B ${random.int(1, 4)}.${random.int(10, 99)}`,
          phone: one.phone,
          email: mailCell(one),
          name: one.name,
          position: one.position,
        })[column];
      return `<table class="staff">${heads(columns.map((column) => words[column]))}<tbody>${each(
        shown,
        (one) => row(columns.map((column) => cell(one, column))),
      )}</tbody></table>`;
    },
  },
  {
    kind: "table, family name first",
    render: (shown, { words, random }) =>
      `<table class="contenttable">${heads([words.name, words.position, words.email, words.phone], random.chance(0.6))}${each(
        shown,
        (one) => row([one.inverted, one.position, mailCell(one), one.phone]),
      )}</table>`,
    isInverted: true,
  },
  {
    kind: "table, first and last name apart",
    render: (shown, { words, random }) => {
      const isLastFirst = random.chance(0.5);
      const names = ({ entry }: Shown) => [entry.lastName ?? "", entry.firstName ?? ""];
      const two = (cells: string[]) => (isLastFirst ? cells : [...cells].reverse());
      return `<table>${heads([...two([words.last, words.first]), words.position, words.phone, words.email])}<tbody>${each(
        shown,
        (one) => row([...two(names(one)), one.position, one.phone, mailCell(one)]),
      )}</tbody></table>`;
    },
    isPeopleOnly: true,
  },
  {
    kind: "table, name and position in one cell",
    render: (shown, { words }) =>
      `<table class="wp-block-table"><tr>${[words.name, words.phone, words.email].map((word) => `<th scope="col">${word}</th>`).join("")}</tr>${each(
        shown,
        (one) =>
          row([
            `<strong>${one.name}</strong>${one.position === "" ? "" : `<br>${one.position}`}`,
            one.phone,
            mailCell(one),
          ]),
      )}</table>`,
  },
  {
    kind: "table, name in a row heading",
    render: (shown, { words }) =>
      `<table>${heads([words.name, words.position, words.email, words.phone])}<tbody>${each(
        shown,
        (one) =>
          `<tr><th scope="row">${one.name}</th><td>${one.position}</td><td>${mailCell(one)}</td><td>${one.phone}</td></tr>`,
      )}</tbody></table>`,
  },
  {
    kind: "several people in a row",
    render: (shown, page) => {
      const cells = shown.map(
        (one) =>
          `<td valign=top>${page.photo(one)}<br><b>${one.name}</b><br>${page.lines(one).join("<br>")}</td>`,
      );
      const rows: string[] = [];
      for (let start = 0; start < cells.length; start += 3)
        rows.push(`<tr>${cells.slice(start, start + 3).join("")}</tr>`);
      return `<table border=0 cellpadding=6>${rows.join("\n")}</table>`;
    },
  },
  {
    kind: "table of one person",
    render: (shown, { words }) =>
      each(shown, (one) => {
        const line = (label: string, cell: string) =>
          cell === "" ? "" : `<tr><th>${label}</th><td>${cell}</td></tr>`;
        return `<table class="vertical">${line(words.name, one.name)}${line(words.position, one.position)}${line(words.phone, one.phone)}${line(words.email, one.mail)}</table>`;
      }),
  },
];

export const LISTS: readonly Layout[] = [
  {
    kind: "definition list, name as term",
    render: (shown, page) =>
      `<dl>${each(
        shown,
        (one) =>
          `<dt>${one.name}</dt>${page
            .lines(one)
            .map((line) => `<dd>${line}</dd>`)
            .join("")}`,
      )}</dl>`,
  },
  {
    kind: "definition list with labels",
    render: (shown, { words }) =>
      each(shown, (one) => {
        const line = (label: string, text: string) =>
          text === "" ? "" : `<dt>${label}</dt><dd>${text}</dd>`;
        return `<dl class="contact">${line(words.name, one.name)}${line(words.position, one.position)}${line(words.phone, one.phone)}${line(words.email, one.mail)}</dl>`;
      }),
  },
  {
    kind: "list, one item each",
    render: (shown) =>
      `<ul>${each(shown, ({ name, position, mail, phone }) => `<li>${[name, position, mail, phone].filter((part) => part !== "").join(", ")}</li>`)}</ul>`,
  },
  {
    kind: "list with dashes",
    render: (shown) =>
      `<ul class="contacts">${each(shown, ({ name, position, mail, phone }) => `<li><b>${name}</b>${position === "" ? "" : ` – ${position}`}${phone === "" ? "" : ` – ${phone}`} ${wrap(mail, "span")}</li>`)}</ul>`,
  },
  {
    kind: "nested lists",
    render: (shown, page) =>
      `<ul>${each(
        shown,
        (one) =>
          `<li>${one.name}<ul>${page
            .lines(one)
            .map((line) => `<li>${line}</li>`)
            .join("")}</ul></li>`,
      )}</ul>`,
  },
];
