/** An object in PDF syntax, in pieces. */
export type WrittenObject = readonly Buffer[];

/** A comment of bytes over 127 marks the file as binary (ISO 32000-1, 7.5.2). */
const HEADER = Buffer.from("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "latin1");
const OFFSET_DIGITS = 10;
/** Bytes at the end of a file that hold the trailer that PDFium writes. */
const TRAILER_BYTES = 1024;

/**
 * A file of `objects` by number. `trailer` has the entries of the trailer besides `Size`. The same objects give the same
 * bytes: there is no date and no random identifier.
 *
 * Source: ISO 32000-1, 7.5.
 */
export function pdfFile(objects: ReadonlyMap<number, WrittenObject>, trailer: string): Buffer {
  return write(HEADER, objects, {
    trailer,
    sections: [{ first: 0, entries: ["0000000000 65535 f \n"] }],
    size: 0,
  });
}

/** A file with a later revision of some objects behind its end. `root` is the number of its catalogue. */
export function updatedPdf(file: Buffer, objects: ReadonlyMap<number, WrittenObject>, root: number): Buffer {
  if (objects.size === 0) return file;
  const end = file.toString("latin1", Math.max(0, file.length - TRAILER_BYTES));
  const previous = /startxref\s+(\d+)\s+%%EOF\s*$/.exec(end)?.[1] ?? "0";
  // PDFium copies other entries before it, whose strings may hold the same text.
  const size = Number(/.*\/Size (\d+)/s.exec(end)?.[1] ?? 0);
  return write(file, objects, { trailer: `/Root ${root} 0 R/Prev ${previous}`, sections: [], size });
}

interface Section {
  first: number;
  entries: string[];
}

function write(
  start: Buffer,
  objects: ReadonlyMap<number, WrittenObject>,
  { trailer, sections, size }: { trailer: string; sections: Section[]; size: number },
): Buffer {
  const parts: Buffer[] = [start];
  let length = start.length;
  const append = (part: Buffer): void => {
    parts.push(part);
    length += part.length;
  };
  for (const [number, pieces] of [...objects].toSorted(([one], [other]) => one - other)) {
    const last = sections.at(-1);
    const entry = `${String(length).padStart(OFFSET_DIGITS, "0")} 00000 n \n`;
    if (last !== undefined && number === last.first + last.entries.length) last.entries.push(entry);
    else sections.push({ first: number, entries: [entry] });
    append(Buffer.from(`${number} 0 obj\n`));
    for (const piece of pieces) append(piece);
    append(Buffer.from("\nendobj\n"));
  }
  const table = sections.map(({ first, entries }) => `${first} ${entries.length}\n${entries.join("")}`);
  const { first, entries } = sections.at(-1) ?? { first: 0, entries: [] };
  const count = Math.max(size, first + entries.length);
  append(
    Buffer.from(
      `xref\n${table.join("")}trailer\n<</Size ${count}${trailer}>>\nstartxref\n${length}\n%%EOF\n`,
    ),
  );
  return Buffer.concat(parts, length);
}
