/** JPEG markers by their second byte. Source: ITU-T T.81, table B.1. */
export const Marker = {
  TEM: 0x01,
  SOI: 0xd8,
  EOI: 0xd9,
  SOS: 0xda,
  APP0: 0xe0,
  APP1: 0xe1,
  APP2: 0xe2,
  APP14: 0xee,
  APP15: 0xef,
  COM: 0xfe,
} as const;

/** A marker with its data. */
export interface JpegSegment {
  /** The second byte of the marker. */
  marker: number;
  /** Position of the first byte, including fill bytes before the marker. */
  start: number;
  /** The bytes after its length field; empty for markers that stand alone. */
  payload: Buffer;
  /** Position after the segment; for a scan, after its entropy-coded data. */
  end: number;
}

/**
 * Walks a JPEG from its start up to its EOI or, without one, as far as possible. Skips bytes outside segments, as
 * libjpeg does. Never throws.
 *
 * Source: ITU-T T.81, annex B.
 */
export function* readJpegSegments(bytes: Buffer): Generator<JpegSegment, void> {
  let position = 0;
  while (position < bytes.length) {
    const start = bytes.indexOf(0xff, position);
    if (start === -1) return;
    let code = start + 1;
    while (bytes[code] === 0xff) code++;
    const marker = bytes[code];
    if (marker === undefined) return;
    position = code + 1;
    // A stuffed zero outside a scan: junk.
    if (marker === 0) continue;
    const segment = readSegment(bytes, marker, start, position);
    yield segment;
    if (marker === Marker.EOI) return;
    position = segment.end;
  }
}

/** Whether a JPEG has its EOI. */
export function hasJpegEnd(bytes: Buffer): boolean {
  for (const { marker } of readJpegSegments(bytes)) if (marker === Marker.EOI) return true;
  return false;
}

/** Whether a payload begins with `identifier`. */
export function startsWith(payload: Buffer, identifier: string): boolean {
  return payload.toString("latin1", 0, identifier.length) === identifier;
}

/** A segment with a length field. */
export function writeSegment(marker: number, payload: Buffer): Buffer {
  const head = Buffer.of(0xff, marker, 0, 0);
  head.writeUInt16BE(payload.length + 2, 2);
  return Buffer.concat([head, payload]);
}

/** A JPEG with these segments at its start, but behind the one of JFIF. */
export function insertSegments(jpeg: Buffer, segments: readonly Buffer[]): Buffer {
  const at = jpeg[3] === Marker.APP0 ? 4 + jpeg.readUInt16BE(4) : 2;
  return Buffer.concat([jpeg.subarray(0, at), ...segments, jpeg.subarray(at)]);
}

/** SOF0 to SOF15. Between them are three other markers: DHT, JPG and DAC. */
export function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

function readSegment(bytes: Buffer, marker: number, start: number, position: number): JpegSegment {
  const length = standsAlone(marker) || position + 2 > bytes.length ? 0 : bytes.readUInt16BE(position);
  const end = Math.min(position + length, bytes.length);
  const payload = bytes.subarray(position + 2, Math.max(position + 2, end));
  return { marker, start, payload, end: marker === Marker.SOS ? findScanEnd(bytes, end) : end };
}

/** SOI, EOI, restarts, TEM. */
function standsAlone(marker: number): boolean {
  return (marker >= 0xd0 && marker <= Marker.EOI) || marker === Marker.TEM;
}

/** The end of entropy-coded data that begins at `position`: before the first marker that is not a restart. */
function findScanEnd(bytes: Buffer, position: number): number {
  let next = position;
  for (;;) {
    const found = bytes.indexOf(0xff, next);
    const follower = found === -1 ? undefined : bytes[found + 1];
    if (follower === undefined) return bytes.length;
    if (follower === 0xff) next = found + 1;
    else if (follower === 0 || (follower >= 0xd0 && follower <= 0xd7)) next = found + 2;
    else return found;
  }
}
