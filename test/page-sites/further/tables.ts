import { each, type Layout, wrap } from "../layout.ts";

const cells = (texts: readonly string[], tag = "td") =>
  texts.map((text) => `<${tag}>${text}</${tag}>`).join("");

export const FURTHER_TABLES: readonly Layout[] = [
  {
    kind: "table without headings",
    render: (shown) =>
      `<table>${each(shown, (one) => `<tr>${cells([one.name, one.position, one.phone, one.mail])}</tr>`)}</table>`,
  },
  {
    kind: "table with rows of departments",
    render: (shown, { words, language }) =>
      `<table><tr>${cells([words.name, words.position, words.phone, words.email], "th")}</tr>${each(
        shown,
        (one, index) => {
          const department = language.departments.split("|")[index / 2];
          const heading =
            index % 2 === 0 && department !== undefined
              ? `<tr><td colspan="4"><b>${department}</b></td></tr>`
              : "";
          return `${heading}<tr>${cells([one.name, one.position, one.phone, one.mail])}</tr>`;
        },
      )}</table>`,
  },
  {
    kind: "table, short headings",
    render: (shown, { words }) =>
      `<table><thead><tr>${cells(["", words.name, words.position, "Tel.", "Mail"], "th")}</tr></thead>${each(shown, (one, index) => `<tr>${cells([String(index + 1), one.name, one.position, one.phone, one.mail])}</tr>`)}</table>`,
  },
  {
    kind: "table, name and address in one cell",
    render: (shown, { words }) =>
      `<table><tr>${cells([`${words.name} / ${words.email}`, words.position, words.phone], "th")}</tr>${each(shown, (one) => `<tr>${cells([`${one.name}${one.mail === "" ? "" : `<br>${one.mail}`}`, one.position, one.phone])}</tr>`)}</table>`,
  },
  {
    kind: "table, all contacts in one cell",
    render: (shown, { words }) =>
      `<table><tr>${cells([words.name, words.position, words.contact], "th")}</tr>${each(shown, (one) => `<tr>${cells([one.name, one.position, [one.phone, one.mail].filter((part) => part !== "").join("<br>")])}</tr>`)}</table>`,
  },
  {
    kind: "nested tables",
    render: (shown, page) =>
      `<TABLE WIDTH=600>${each(
        shown,
        (one) =>
          `<TR><TD>${page.photo(one)}</TD><TD><TABLE><TR><TD><FONT FACE="Arial" SIZE=3><B>${one.name}</B></FONT></TD></TR>${page
            .lines(one)
            .map((line) => `<TR><TD><FONT SIZE=2>${line}</FONT></TD></TR>`)
            .join("")}</TABLE></TD></TR>`,
      )}</TABLE>`,
  },
  {
    kind: "table for small screens",
    render: (shown, { words }) =>
      `<table><thead><tr>${cells([words.position, words.name, words.email, words.phone], "th")}</tr></thead><tbody>${each(
        shown,
        (one) =>
          `<tr><td data-label="${words.position}">${one.position}</td><td data-label="${words.name}">${one.name}</td><td data-label="${words.email}">${one.mail}</td><td data-label="${words.phone}">${one.phone}</td></tr>`,
      )}</tbody></table>`,
  },
  {
    kind: "definition list in groups",
    render: (shown, { words }) =>
      each(shown, (one) => {
        const group = (label: string, text: string) =>
          text === "" ? "" : `<div><dt>${label}:</dt><dd>${text}</dd></div>`;
        return `<section><h3>${one.name}</h3><dl>${group(words.position, one.position)}${group(words.phone, one.phone)}${group(words.email, one.mail)}</dl></section>`;
      }),
  },
  {
    kind: "labels in bold",
    render: (shown, { words }) =>
      each(shown, (one) => {
        const line = (label: string, text: string) =>
          text === "" ? "" : `<strong>${label}:</strong> ${text}<br>`;
        return `<p>${line(words.name, one.name)}${line(words.position, one.position)}${line(words.phone, one.phone)}${line(words.email, one.mail)}</p>`;
      }),
  },
  {
    kind: "ordered list",
    render: (shown, page) =>
      `<ol>${each(
        shown,
        (one) =>
          `<li><p>${one.name}</p>${page
            .lines(one)
            .map((line) => wrap(line, "p"))
            .join("")}</li>`,
      )}</ol>`,
  },
];
