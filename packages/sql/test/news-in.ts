import type { ContactNews } from "../src/contacts/merge-contact.ts";
import type { BadLine } from "../src/transfer/file-line.ts";
import { newsOf } from "../src/transfer/line-news.ts";
import { type ContactFormat, readLines } from "../src/transfer/read-lines.ts";
import { fileOf } from "./sample-files.ts";

/** What an import takes from a file before it stores it. */
export async function newsIn(
  text: string | Uint8Array,
  format?: ContactFormat,
  mapping = {},
  given?: string,
  pieceBytes?: number,
) {
  const [news, bad, dropped, unused]: [ContactNews[], BadLine[], string[], Set<string>] = [
    [],
    [],
    [],
    new Set(),
  ];
  const reports = {
    onBad: (line: BadLine) => bad.push(line),
    onUnused: (column: string) => unused.add(column),
  };
  const options = { format, encoding: given, mapping };
  for await (const lines of readLines(fileOf(text, pieceBytes), options, reports)) {
    for (const line of lines) {
      const told = newsOf(line, (field) => dropped.push(`${line.line} ${field}`));
      if ("reason" in told) bad.push(told);
      else if ("news" in told) news.push(told.news);
    }
  }
  return { news, bad, dropped: dropped.toSorted(), unused: [...unused].toSorted() };
}
