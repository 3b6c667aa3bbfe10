import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";

/** A stream of `text` in chunks of `pieceBytes` bytes, which may split characters and lines. */
export function fileOf(text: string | Uint8Array, pieceBytes = 13): AsyncIterable<Uint8Array> {
  const bytes = Buffer.from(text);
  function* pieces(): Generator<Buffer> {
    for (let start = 0; start < bytes.length; start += pieceBytes)
      yield bytes.subarray(start, start + pieceBytes);
  }
  return Readable.from(pieces());
}

export const HEADER =
  "email,first_name,last_name,position,phone,company,source_uri,extracted_on,last_seen_on,still_on_page";

/** The CSV line of the person with this number. Each twenty consecutive persons share a domain. */
export function personLine(index: number): string {
  const digest = createHash("md5").update(String(index)).digest("hex");
  const [first, last, domain] = [`f${digest.slice(0, 4)}`, `l${digest.slice(4, 9)}`, domainOf(index)];
  const day = String(1 + (index % 28)).padStart(2, "0");
  return `${first}.${last}.${index}@${domain},${first},${last},Sales Manager,+41 44 ${index},Org ${domain},https://www.${domain}/p/${index},2025-01-${day},2026-02-${day},${index % 3 !== 0}`;
}

export function domainOf(index: number): string {
  return `d${Math.floor(index / 20)}.example`;
}

export function personFile(count: number): string {
  return `${[HEADER, ...Array.from({ length: count }, (_, index) => personLine(index))].join("\n")}\n`;
}

export async function textOf(stream: Readable): Promise<string> {
  return (await buffer(stream)).toString("utf8");
}
