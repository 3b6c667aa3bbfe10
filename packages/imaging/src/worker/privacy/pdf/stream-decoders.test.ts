import { expect, test } from "vitest";
import { encodeWith } from "../../../../test/pdf-encodings.ts";
import { decoders } from "./stream-decoders.ts";

const LIMIT = 1_000_000;
const text = Buffer.from(
  Array.from({ length: 9000 }, (_, index) => `${index % 97} ${(index * index) % 89} re `).join(""),
);
const noise = Buffer.from(
  Array.from({ length: 70_001 }, (_, index) => (Math.imul(index, 2654435761) >>> 13) & 255),
);
const samples = [Buffer.alloc(0), Buffer.from("a"), Buffer.from("aaaa"), Buffer.alloc(5000), text, noise];

test.each(["FlateDecode", "LZWDecode", "RunLengthDecode", "ASCIIHexDecode", "ASCII85Decode"])(
  "%s decodes what was encoded, stops at its end marker, and stays within the limit",
  (filter) => {
    for (const earlyChange of [true, false]) {
      for (const sample of samples) {
        const encoded = encodeWith([filter], sample, earlyChange);
        const trailed = Buffer.concat([encoded, Buffer.from("\n \0")]);
        expect(decoders.get(filter)?.(trailed, LIMIT, earlyChange)?.equals(sample)).toBe(true);
      }
    }
    expect(
      decoders
        .get(filter)?.(encodeWith([filter], text), text.length, true)
        ?.equals(text),
    ).toBe(true);
    const large = decoders.get(filter)?.(encodeWith([filter], text), text.length - 1, true);
    expect(large === null || (large?.length ?? 0) <= 1000).toBe(true);
  },
);

test.each(["FlateDecode", "LZWDecode", "RunLengthDecode", "ASCIIHexDecode", "ASCII85Decode"])(
  "%s reads damaged and truncated data without an error",
  (filter) => {
    const encoded = encodeWith([filter], text);
    for (let step = 1; step < 200; step++) {
      const damaged = Buffer.from(encoded.subarray(0, Math.floor((encoded.length * step) / 200)));
      damaged[(step * 7919) % damaged.length] = step;
      const decoded = decoders.get(filter)?.(damaged, LIMIT, true);
      expect(decoded === null || decoded instanceof Buffer).toBe(true);
    }
  },
);
