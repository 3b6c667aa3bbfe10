import { deflateSync } from "node:zlib";
import type { SampleObject } from "./pdf-samples.ts";

/** How {@link compressedPdf} compresses its object stream. */
export interface ObjectStreamCoding {
  /** What undoes `encode`, as a dictionary names it. */
  filter: string;
  encode(content: Buffer): Buffer;
}

const flate: ObjectStreamCoding = { filter: "/FlateDecode", encode: (content) => deflateSync(content) };

/**
 * A PDF 1.5 of these objects, numbered from 1; the first is the catalogue. Streams stand for themselves, all other objects
 * in an object stream. It ends with a cross-reference stream, which also has the entries of `trailer`.
 */
export function compressedPdf(objects: readonly SampleObject[], trailer = "", coding = flate): Buffer {
  const numbered = objects.map((object, index) => ({ number: index + 1, object }));
  const packed = numbered.filter(({ object }) => typeof object === "string");
  const streamNumber = objects.length + 1;
  const tableNumber = objects.length + 2;
  const objectStream = writeObjectStream(packed as { number: number; object: string }[], coding);
  const loose = numbered.filter(({ object }) => typeof object !== "string");
  const parts: Buffer[] = [Buffer.from("%PDF-1.5\n")];
  const places = new Map<number, [type: number, place: number, index: number]>();
  for (const [index, { number }] of packed.entries()) places.set(number, [2, streamNumber, index]);
  for (const { number, object } of [...loose, { number: streamNumber, object: objectStream }]) {
    places.set(number, [1, Buffer.concat(parts).length, 0]);
    parts.push(writeStream(number, object as Exclude<SampleObject, string>));
  }
  const end = Buffer.concat(parts).length;
  places.set(tableNumber, [1, end, 0]);
  const rows = Array.from({ length: tableNumber + 1 }, (_, number) =>
    tableRow(places.get(number) ?? [0, 0, 0]),
  );
  const dictionary = `/Type/XRef/Size ${tableNumber + 1}/W[1 4 2]/Root 1 0 R${trailer}`;
  parts.push(writeStream(tableNumber, { dictionary, data: Buffer.concat(rows) }));
  return Buffer.concat([...parts, Buffer.from(`startxref\n${end}\n%%EOF\n`)]);
}

/** `pdf` with a later revision of these objects, by number, behind its end. */
export function updatedPdf(pdf: Buffer, objects: Readonly<Record<number, string>>, trailer = ""): Buffer {
  const previous = /startxref\s+(\d+)\s+%%EOF\s*$/.exec(pdf.toString("latin1"))?.[1] ?? "0";
  const parts: Buffer[] = [pdf];
  const sections = Object.entries(objects).map(([number, object]) => {
    const offset = Buffer.concat(parts).length;
    parts.push(Buffer.from(`${number} 0 obj\n${object}\nendobj\n`, "latin1"));
    return `${number} 1\n${String(offset).padStart(10, "0")} 00000 n \n`;
  });
  const end = Buffer.concat(parts).length;
  const sizes = [...pdf.toString("latin1").matchAll(/\/Size (\d+)/g)].map(([, count]) => Number(count));
  const size = Math.max(...sizes, ...Object.keys(objects).map((number) => Number(number) + 1));
  const trailerText = `trailer\n<</Size ${size}/Root 1 0 R/Prev ${previous}${trailer}>>\n`;
  return Buffer.concat([
    ...parts,
    Buffer.from(`xref\n${sections.join("")}${trailerText}startxref\n${end}\n%%EOF\n`, "latin1"),
  ]);
}

function writeObjectStream(
  packed: readonly { number: number; object: string }[],
  { filter, encode }: ObjectStreamCoding,
): SampleObject {
  let bodies = "";
  let head = "";
  for (const { number, object } of packed) {
    head += `${number} ${bodies.length} `;
    bodies += `${object}\n`;
  }
  const dictionary = `/Type/ObjStm/N ${packed.length}/First ${head.length}/Filter${filter}`;
  return { dictionary, data: encode(Buffer.from(head + bodies, "latin1")) };
}

function writeStream(number: number, { dictionary = "", data }: Exclude<SampleObject, string>): Buffer {
  const bytes = typeof data === "string" ? Buffer.from(data, "latin1") : data;
  const head = `${number} 0 obj\n<<${dictionary}/Length ${bytes.length}>>\nstream\n`;
  return Buffer.concat([Buffer.from(head, "latin1"), bytes, Buffer.from("\nendstream\nendobj\n")]);
}

/** Of a cross-reference stream. */
function tableRow([type, place, index]: [number, number, number]): Buffer {
  const row = Buffer.of(type, 0, 0, 0, 0, 0, index);
  row.writeUInt32BE(place, 1);
  return row;
}
