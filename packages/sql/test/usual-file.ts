export const A = ["Ann", "Best", "ann.best@acme.example", "Chief Analyst", "Acme Ltd"] as const;
export const B = ["Jörg", "Groß", "joerg.gross@bau.example", "Leiter Einkauf", "Bau GmbH"] as const;

/** An export of a program, with the two people of all these files. */
export interface UsualFile {
  text: string;
  encoding?: "utf-8" | "utf-16le" | "utf-16be" | "windows-1252";
  hasMark?: boolean;
  /** Values that only some files have. */
  phones?: readonly [string, string];
  profile?: string;
  handle?: string;
  status?: string;
  confidence?: number;
}

export type Person = typeof A | typeof B;

/** Writes the people into a text: `%F` first name, `%L` last name, `%E` address, `%P` position, `%O` organization. */
export function written(text: string, [first, last, email, position, organization]: Person): string {
  const values: Record<string, string> = { F: first, L: last, E: email, P: position, O: organization };
  return text.replaceAll(/%([FLEPO])/g, (_, letter: string) => values[letter] ?? "");
}

/** A table whose header and row are written with commas; `\,` is a comma in a cell. */
export function table(header: string, row: string, by = ",", preamble = ""): string {
  const lines = [header, written(row, A), written(row, B)].map((line) => `${line}\r\n`);
  return (
    preamble +
    lines
      .join("")
      .replaceAll(/(?<!\\),/g, by)
      .replaceAll("\\,", ",")
  );
}

export function entries(lines: readonly string[], by = "\r\n"): string {
  return [A, B].map((person) => lines.map((line) => written(line, person) + by).join("")).join("");
}

/** The bytes of a file. */
export function bytesOf({ text, encoding = "utf-8", hasMark = false }: UsualFile): Buffer {
  const marked = hasMark ? `\uFEFF${text}` : text;
  if (encoding === "utf-8") return Buffer.from(marked);
  if (encoding === "windows-1252") return Buffer.from(text, "latin1");
  const bytes = Buffer.from(marked, "utf16le");
  return encoding === "utf-16le" ? bytes : bytes.swap16();
}
