/** The content of a box `colr` with code points, for all values of a sample. @param matrix That of the pixels: 0 is RGB. */
export function nclx(primaries: number, curve: number, matrix = 0): Buffer {
  return Buffer.concat([Buffer.from("nclx"), Buffer.of(0, primaries, 0, curve, 0, matrix, 0x80)]);
}

/** The content of a box `colr` with a profile. */
export function profileContent(profile: Buffer, kind: "prof" | "rICC" = "prof"): Buffer {
  return Buffer.concat([Buffer.from(kind), profile]);
}

/**
 * An AVIF or HEIC of sharp or `heic-samples.ts` with a box `colr` for items, added behind its other properties.
 * @param items Their identifiers. @default the main picture
 */
export function withColour(file: Buffer, content: Buffer, items?: readonly number[]): Buffer {
  const at = (type: string) => file.indexOf(type, 0, "latin1") - 4;
  const endOf = (type: string) => at(type) + file.readUInt32BE(at(type));
  const [ipco, ipma] = [at("ipco"), at("ipma")];
  let count = 0;
  for (let box = ipco + 8; box < endOf("ipco"); box += file.readUInt32BE(box)) count++;
  const box = Buffer.concat([Buffer.alloc(4), Buffer.from("colr"), content]);
  box.writeUInt32BE(box.length);
  const main = file.readUInt16BE(at("pitm") + 12);
  const entries: Buffer[] = [];
  for (let entry = ipma + 16; entry < endOf("ipma"); ) {
    const length = 3 + file.readUInt8(entry + 2);
    const item = Buffer.from(file.subarray(entry, entry + length));
    entry += length;
    const isColoured = (items ?? [main]).includes(item.readUInt16BE());
    if (isColoured) item.writeUInt8(item.readUInt8(2) + 1, 2);
    entries.push(item, isColoured ? Buffer.of(count + 1) : Buffer.alloc(0));
  }
  const associations = Buffer.concat(entries);
  const added = box.length + ipma + 16 + associations.length - endOf("ipma");
  const head = Buffer.from(file);
  const grow = (type: string, by: number) => head.writeUInt32BE(head.readUInt32BE(at(type)) + by, at(type));
  grow("ipco", box.length);
  grow("ipma", added - box.length);
  for (const type of ["iprp", "meta"]) grow(type, added);
  moveExtents(head, at("iloc"), added);
  return Buffer.concat([
    head.subarray(0, ipma),
    box,
    head.subarray(ipma, ipma + 16),
    associations,
    head.subarray(endOf("ipma")),
  ]);
}

/** Moves the data outside `meta`, which each item has in one extent. Offsets and lengths have 32 bits. */
function moveExtents(file: Buffer, iloc: number, by: number): void {
  const methodBytes = file.readUInt8(iloc + 8) === 1 ? 2 : 0;
  const baseBytes = file.readUInt8(iloc + 13) >> 4;
  for (let index = 0; index < file.readUInt16BE(iloc + 14); index++) {
    const item = iloc + 16 + index * (14 + methodBytes + baseBytes);
    const isInside = methodBytes > 0 && file.readUInt16BE(item + 2) === 1;
    const offset = item + methodBytes + (baseBytes > 0 ? 4 : 6);
    if (!isInside) file.writeUInt32BE(file.readUInt32BE(offset) + by, offset);
  }
}
