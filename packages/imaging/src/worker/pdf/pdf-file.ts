/** An object in PDF syntax, in pieces. */
export type WrittenObject = readonly Buffer[];

/** A comment of bytes over 127 marks the file as binary (ISO 32000-1, 7.5.2). */
const HEADER = Buffer.from("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "latin1");
const FREE = "0000000000 65535 f \n";
const OFFSET_DIGITS = 10;

/**
 * A file of `objects` by number. `trailer` has the entries of the trailer besides `Size`. The same objects give the same
 * bytes: there is no date and no random identifier.
 *
 * Source: ISO 32000-1, 7.5.
 */
export function pdfFile(objects: ReadonlyMap<number, WrittenObject>, trailer: string): Buffer {
  const parts: Buffer[] = [HEADER];
  let length = HEADER.length;
  const append = (part: Buffer): void => {
    parts.push(part);
    length += part.length;
  };
  const entries = [FREE];
  for (const [number, pieces] of [...objects].toSorted(([one], [other]) => one - other)) {
    while (entries.length < number) entries.push(FREE);
    entries.push(`${String(length).padStart(OFFSET_DIGITS, "0")} 00000 n \n`);
    append(Buffer.from(`${number} 0 obj\n`));
    for (const piece of pieces) append(piece);
    append(Buffer.from("\nendobj\n"));
  }
  const table = `xref\n0 ${entries.length}\n${entries.join("")}`;
  append(
    Buffer.from(`${table}trailer\n<</Size ${entries.length}${trailer}>>\nstartxref\n${length}\n%%EOF\n`),
  );
  return Buffer.concat(parts, length);
}
