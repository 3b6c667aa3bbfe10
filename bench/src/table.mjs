import { readFile, writeFile } from "node:fs/promises";

/**
 * A table in Markdown, with columns as wide as a formatter makes them.
 * @param {readonly string[]} titles
 * @param {readonly (readonly string[])[]} rows
 * @param {ReadonlySet<string>} right Titles of the columns whose cells stand on the right: figures.
 */
export function formatColumns(titles, rows, right) {
  const columns = titles.map((title, index) => {
    const cells = [title, ...rows.map((row) => row[index] ?? "")];
    const width = Math.max(3, ...cells.map((cell) => cell.length));
    const isRight = right.has(title);
    const [head, ...rest] = cells.map((cell) => (isRight ? cell.padStart(width) : cell.padEnd(width)));
    return [head, isRight ? `${"-".repeat(width - 1)}:` : "-".repeat(width), ...rest];
  });
  return Array.from({ length: rows.length + 2 }, (_, row) => {
    return `| ${columns.map((column) => column[row]).join(" | ")} |`;
  }).join("\n");
}

/**
 * Replaces the text that the last run wrote into a file: between `<!-- <who> writes from here -->` and the next `<!--
 * to here -->`. Throws if there is no such place.
 * @param {URL} file
 * @param {string} who
 * @param {string} text
 */
export async function replaceWritten(file, who, text) {
  const old = await readFile(file, "utf8");
  const begin = `<!-- ${who} writes from here -->`;
  const from = old.indexOf(begin);
  const to = old.indexOf("<!-- to here -->", from);
  if (from === -1 || to === -1) throw new Error(`${file.pathname} has no marks for the text of ${who}`);
  await writeFile(file, `${old.slice(0, from + begin.length)}\n\n${text}\n\n${old.slice(to)}`);
}
