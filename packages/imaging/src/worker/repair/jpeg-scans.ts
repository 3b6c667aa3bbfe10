import { isFrame, type JpegSegment, Marker, readJpegSegments } from "../privacy/jpeg-segments.ts";

const COEFFICIENTS = 64;
/** The field of a scan that refines coefficients from one missing bit to none. */
const LAST_BIT = 0x10;

/** A scan of a JPEG, with the coefficients that it brings. */
export interface JpegScan {
  /** Position after its entropy-coded data. */
  end: number;
  /** Restart markers in it. */
  restarts: number;
  /** Identifiers of its components. */
  components: readonly number[];
  first: number;
  last: number;
  /** Lower bits of the coefficients that it leaves out. */
  missingBits: number;
  /** Whether a picture without it is visibly worse. The last bits of coefficients and the details of colour are not. */
  isNeeded: boolean;
}

/** The scans of a JPEG. */
export interface JpegScans {
  /** Identifiers of the components that its frame declares. */
  components: readonly number[];
  /** Those with the details: the brightness, or all where no component is the brightness. */
  detailed: readonly number[];
  scans: readonly JpegScan[];
  /** The last segment of the file. */
  last: JpegSegment | null;
}

/**
 * Reads the headers of the frame and of the scans.
 *
 * Source: ITU-T T.81, sections B.2.2, B.2.3 and G.1.1.
 */
export function readJpegScans(bytes: Buffer): JpegScans {
  let components: number[] = [];
  let detailed = components;
  let isProgressive = false;
  let hasBrightness = true;
  const scans: JpegScan[] = [];
  let last: JpegSegment | null = null;
  for (const segment of readJpegSegments(bytes)) {
    const { marker, payload, end } = segment;
    last = segment;
    if (isFrame(marker)) {
      components = Array.from({ length: payload[5] ?? 0 }, (_, index) => payload[6 + 3 * index] ?? 0);
      detailed = hasBrightness && isYcc(components) ? components.slice(0, 1) : components;
      isProgressive = (marker & 3) === 2;
    } else if (marker === Marker.APP14 && payload.toString("latin1", 0, 5) === "Adobe") {
      hasBrightness = payload[11] !== 0;
    } else if (marker === Marker.SOS) {
      const count = payload[0] ?? 0;
      const [first = 0, last = 0, bits = 0] = payload.subarray(1 + 2 * count);
      const ids = Array.from({ length: count }, (_, index) => payload[1 + 2 * index] ?? 0);
      // A sequential scan brings all coefficients, whatever these fields say.
      const brings = isProgressive
        ? { first, last, missingBits: bits & 15 }
        : { first: 0, last: COEFFICIENTS - 1, missingBits: 0 };
      const isDetailed = first === 0 || ids.some((id) => detailed.includes(id));
      const isNeeded = !isProgressive || (isDetailed && bits !== LAST_BIT);
      const data = bytes.subarray(payload.byteOffset - bytes.byteOffset + payload.length, end);
      scans.push({ end, restarts: countRestarts(data), components: ids, ...brings, isNeeded });
    }
  }
  return { components, detailed, scans, last };
}

/** Whether the needed scans are there: each coefficient is known but for its last bit, or the details of colour. */
export function isFine({ components, detailed, scans }: JpegScans): boolean {
  return components.every((component) => {
    const missingBits = new Uint8Array(COEFFICIENTS).fill(255);
    for (const scan of scans) {
      if (scan.components.includes(component)) missingBits.fill(scan.missingBits, scan.first, scan.last + 1);
    }
    const needed = detailed.includes(component) ? missingBits : missingBits.subarray(0, 1);
    return needed.every((bits) => bits <= 1);
  });
}

function countRestarts(data: Buffer): number {
  let count = 0;
  for (let at = data.indexOf(0xff); at >= 0; at = data.indexOf(0xff, at + 1)) {
    const follower = data[at + 1] ?? 0;
    if (follower >= 0xd0 && follower <= 0xd7) count++;
  }
  return count;
}

/** Whether three components are brightness and colour: identifiers may also name red, green and blue. */
function isYcc(components: readonly number[]): boolean {
  return components.length === 3 && String.fromCharCode(...components) !== "RGB";
}
