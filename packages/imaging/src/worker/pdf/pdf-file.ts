/** A name, number, array, dictionary or the like as PDF writes it, or the bytes of a stream with its dictionary. */
export type PdfObject = string | { dictionary: string; data: Buffer };

/** A comment of bytes over 127 tells that the file is not text (ISO 32000-1, 7.5.2). */
const HEADER = Buffer.from("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n", "latin1");

/**
 * A file of these objects, numbered from 1 in their order; the first is the catalogue. The same objects are the same
 * bytes: there is no date and no random identifier.
 *
 * Source: ISO 32000-1, 7.5.
 */
export function pdfFile(objects: readonly PdfObject[]): Buffer {
  const parts: Buffer[] = [HEADER];
  const offsets: number[] = [];
  let length = HEADER.length;
  const append = (part: Buffer): void => {
    parts.push(part);
    length += part.length;
  };
  for (const [index, object] of objects.entries()) {
    offsets.push(length);
    append(Buffer.from(`${index + 1} 0 obj\n`));
    if (typeof object === "string") append(Buffer.from(object, "latin1"));
    else {
      append(Buffer.from(`<<${object.dictionary}/Length ${object.data.length}>>\nstream\n`, "latin1"));
      append(object.data);
      append(Buffer.from("\nendstream"));
    }
    append(Buffer.from("\nendobj\n"));
  }
  const entries = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`);
  const size = objects.length + 1;
  append(
    Buffer.from(
      `xref\n0 ${size}\n0000000000 65535 f \n${entries.join("")}` +
        `trailer\n<</Size ${size}/Root 1 0 R>>\nstartxref\n${length}\n%%EOF\n`,
    ),
  );
  return Buffer.concat(parts, length);
}
