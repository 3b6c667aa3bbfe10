/** The content of a `data:` URL. */
export interface DataUrl {
  /** The media type in lower case, without parameters. It may be empty or wrong. */
  type: string;
  bytes: Buffer;
}

const DATA_URL = /^data:([^,#]*),([^#]*)/i;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const PERCENT = "%".charCodeAt(0);

/**
 * Reads a `data:` URL as browsers do: in base64 or with percent escapes, with any parameters, and without its fragment.
 * `undefined` for other addresses and for damaged base64.
 *
 * Source: Fetch Standard, `data:` URLs; Infra Standard, forgiving base64.
 */
export function readDataUrl(url: string): DataUrl | undefined {
  const [, header, content] = DATA_URL.exec(url) ?? [];
  if (header === undefined || content === undefined) return undefined;
  const type = (header.split(";", 1)[0] ?? "").trim().toLowerCase();
  if (!/;\s*base64\s*$/i.test(header)) {
    return { type, bytes: percentDecoded(Buffer.from(content.replace(/[\t\n\r]/g, ""))) };
  }
  const unescaped = content.includes("%") ? percentDecoded(Buffer.from(content)).toString("latin1") : content;
  const digits = unescaped.replace(/\s+/g, "");
  const isBase64 = BASE64.test(digits) && digits.replace(/=+$/, "").length % 4 !== 1;
  return isBase64 ? { type, bytes: Buffer.from(digits, "base64") } : undefined;
}

/** Decodes percent escapes in place. Other percent signs stay. */
function percentDecoded(bytes: Buffer): Buffer {
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    const digits = bytes[at] === PERCENT ? bytes.toString("latin1", at + 1, at + 3) : "";
    const isEscape = /^[\da-f]{2}$/i.test(digits);
    // The index is within the buffer.
    bytes[length++] = isEscape ? Number.parseInt(digits, 16) : (bytes[at] as number);
    if (isEscape) at += 2;
  }
  return bytes.subarray(0, length);
}
