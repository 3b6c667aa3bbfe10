/** A kind of picture that the service does not store, but that browsers can turn into one that it does. */
export interface ForeignKind {
  label: "WebP" | "AVIF" | "HEIC" | "BMP";
  /** Media type for the decoder of the browser. */
  type: string;
  /** Whether the file has several pictures, of which only the first can be kept. */
  isAnimated: boolean;
  /** Whether a lossy copy would lose something that the file has. */
  isLossless: boolean;
}

/** For the file chooser. */
export const ACCEPTED_FOREIGN = "image/webp,.webp,image/avif,.avif,image/bmp,.bmp";

/** For the file chooser of browsers that do not convert HEIC themselves. */
export const ACCEPTED_HEIC = "image/heic,image/heif,.heic,.heif";

/** Bytes that `readForeignKind` looks at: a colour profile may stand before the picture. */
export const HEAD_BYTES = 8192;

/** The kind by the first bytes, up to `HEAD_BYTES` of them; `null` for any other file. */
export function readForeignKind(head: Uint8Array): ForeignKind | null {
  return readWebp(head) ?? readHeif(head) ?? readBmp(head);
}

function readWebp(head: Uint8Array): ForeignKind | null {
  if (textAt(head, 0) !== "RIFF" || textAt(head, 8) !== "WEBP") return null;
  const isAnimated = textAt(head, 12) === "VP8X" && ((head[20] ?? 0) & 0x02) !== 0;
  return { label: "WebP", type: "image/webp", isAnimated, isLossless: hasChunk(head, "VP8L") };
}

/** Whether a RIFF file has a chunk of this name within its first bytes. */
function hasChunk(head: Uint8Array, name: string): boolean {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  for (let at = 12; at + 8 <= head.length; ) {
    if (textAt(head, at) === name) return true;
    const size = view.getUint32(at + 4, true);
    at += 8 + size + (size % 2);
  }
  return false;
}

const HEIC_BRANDS = ["heic", "heix", "hevc", "hevx", "heim", "heis", "mif1", "msf1"];
const SEQUENCES = ["avis", "hevc", "hevx", "msf1"];

/** AVIF and HEIC, by the brands in the first box of the file (ISO/IEC 23008-12). */
function readHeif(head: Uint8Array): ForeignKind | null {
  if (head.length < 16 || textAt(head, 4) !== "ftyp") return null;
  const boxSize = new DataView(head.buffer, head.byteOffset).getUint32(0);
  const brands = [textAt(head, 8)];
  for (let at = 16; at + 4 <= Math.min(boxSize, head.length); at += 4) brands.push(textAt(head, at));
  const isAnimated = brands.some((brand) => SEQUENCES.includes(brand));
  if (brands.includes("avif") || brands.includes("avis")) {
    return { label: "AVIF", type: "image/avif", isAnimated, isLossless: false };
  }
  if (!brands.some((brand) => HEIC_BRANDS.includes(brand))) return null;
  return { label: "HEIC", type: "image/heic", isAnimated, isLossless: false };
}

/** Sizes of the headers that follow the 14 bytes of the file header. */
const BMP_HEADERS = [12, 40, 52, 56, 64, 108, 124];

function readBmp(head: Uint8Array): ForeignKind | null {
  if (head.length < 26 || head[0] !== 0x42 || head[1] !== 0x4d) return null;
  const headerSize = new DataView(head.buffer, head.byteOffset).getUint32(14, true);
  if (!BMP_HEADERS.includes(headerSize)) return null;
  return { label: "BMP", type: "image/bmp", isAnimated: false, isLossless: true };
}

/** Four bytes as ASCII; shorter at the end of the bytes. */
function textAt(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + 4));
}
