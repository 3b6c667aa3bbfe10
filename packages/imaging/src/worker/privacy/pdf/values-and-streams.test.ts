import { deflateSync, inflateSync } from "node:zlib";
import { expect, test } from "vitest";
import { encodeWith } from "../../../../test/pdf-encodings.ts";
import { parsePdfValue } from "./parse-pdf-value.ts";
import { countOf, entryOf, pdfNameAt } from "./pdf-value.ts";
import { decoders } from "./stream-decoders.ts";
import { decodeStream, deflateToLength, filtersOf } from "./stream-filters.ts";

const content = Buffer.from("an object and another object and yet another object ".repeat(20));
const shortest = deflateSync(content, { level: 9 }).length;

test("deflateToLength pads the content with zeros to any length", () => {
  for (const more of [20, 21, 27, 1000, 65_535, 65_540, 65_560, 65_561, 300_000]) {
    const packed = deflateToLength(content, shortest + more);
    expect(packed?.length).toBe(shortest + more);
    const unpacked = inflateSync(packed ?? "");
    expect(unpacked.subarray(0, content.length)).toEqual(content);
    expect(unpacked.subarray(content.length).every((byte) => byte === 0)).toBe(true);
  }
});

test("deflateToLength returns null when the content does not fit", () => {
  expect(deflateToLength(content, shortest)).toBeNull();
  expect(deflateToLength(content, 0)).toBeNull();
});

test("deflateToLength packs empty content", () => {
  const unpacked = inflateSync(deflateToLength(Buffer.alloc(0), 100) ?? "");
  expect(unpacked).toEqual(Buffer.alloc(unpacked.length));
});

function decode(filters: readonly string[], stored: Buffer, bytes: number) {
  const dictionary = parsePdfValue(
    Buffer.from(`<</Filter[${filters.map((name) => `/${name}`).join("")}]>>`),
    0,
  );
  expect.assert(dictionary !== null);
  const budget = { bytes, maxBytes: 10_000 };
  const names = filtersOf(dictionary) ?? [];
  const decoded = decodeStream(dictionary, stored, { filters: names, budget, resolve: (same) => same });
  return { decoded, used: bytes - budget.bytes };
}

test("decodeStream charges the budget for what each filter gives, and ends with it", () => {
  const chain = ["AHx", "A85", "Fl"];
  const stored = encodeWith(["ASCIIHexDecode", "ASCII85Decode", "FlateDecode"], content);
  const { decoded, used } = decode(chain, stored, 100_000);
  expect(decoded).toEqual(content);
  const flate = deflateSync(content).length;
  expect(used).toBe(encodeWith(["ASCII85Decode"], deflateSync(content)).length + flate + content.length);
  expect(decode(chain, stored, used).decoded).toEqual(content);
  expect(decode(chain, stored, used - 1)).toEqual({ decoded: null, used: used - 1 });
});

test("decodeStream charges the budget for damaged data, of which it gives nothing", () => {
  const damaged = Buffer.concat([Buffer.of(0x78, 0xda), Buffer.alloc(99, 0xff)]);
  expect(decode(["Fl"], damaged, 100_000)).toEqual({ decoded: Buffer.alloc(0), used: 10_000 });
});

test("decodeStream refuses more than eight filters, and takes a name of an object's property for no filter", () => {
  expect(
    decode(
      Array.from({ length: 8 }, () => "Crypt"),
      content,
      100_000,
    ).decoded,
  ).toEqual(content);
  expect(
    decode(
      Array.from({ length: 9 }, () => "Crypt"),
      content,
      100_000,
    ).decoded,
  ).toBeNull();
  for (const name of ["constructor", "toString", "__proto__"]) {
    expect(decode([name], content, 100_000).decoded).toEqual(Buffer.alloc(0));
  }
});

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

const parse = (text: string) => parsePdfValue(Buffer.from(text, "latin1"), 0);

test("parsePdfValue reads dictionaries with values of every kind", () => {
  const value = parse(
    "<</Type/Page /Kids[1 0 R 2 0 R]/Name /A#20B/Count +3 /Length -3 /Scale .5/On true/S(a\\)(b))/H<4142>>>",
  );
  expect(pdfNameAt(value, "Type")).toBe("Page");
  expect(pdfNameAt(value, "Name")).toBe("A B");
  expect(countOf(value, "Count")).toBe(3);
  expect(entryOf(value, "Scale")).toMatchObject({ value: 0.5 });
  expect(countOf(value, "Length")).toBeUndefined();
  expect(entryOf(value, "Kids")).toMatchObject({ items: [{ number: 1 }, { number: 2 }] });
  expect(entryOf(value, "On")).toMatchObject({ kind: "word" });
  expect(entryOf(value, "S")).toMatchObject({ kind: "string" });
  expect(entryOf(value, "H")).toMatchObject({ kind: "string" });
  expect(entryOf(value, "Missing")).toBeUndefined();
});

test.each([
  ["(a (nested) \\( one)", 19],
  ["<4142>", 6],
  ["/Name", 5],
  ["12 0 R", 6],
  ["12 0 Rest", 2],
  ["12 0", 2],
  ["-1.5", 4],
  ["[1 [2] 3]", 9],
  ["<</A<</B 1>>>>", 14],
  ["true]", 4],
  ["% a comment\n 7", 14],
])("parsePdfValue finds the end of %s", (text, end) => {
  expect(parse(text)).toMatchObject({ end });
});

test("entryOf returns the last of duplicate entries, as readers do", () => {
  expect(countOf(parse("<</A 1/A 2>>"), "A")).toBe(2);
});

test.each([
  ["stray words", "<</A 1 stray (text) 5 /B 2>>"],
  ["a key without a value", "<</B 2/A>>"],
  ["no end before the end of the object", "<</A 1/B 2 endobj"],
  ["no end before its stream", "<</A 1/B 2\nstream"],
])("parsePdfValue tolerates %s in a dictionary", (_, text) => {
  expect(countOf(parse(text), "B")).toBe(2);
});

test.each([
  "",
  "   % only a comment",
  "(no end",
  "<41",
  "[1 2",
  "<</A(",
  "<</A",
  "[1 endobj",
  "[".repeat(100_000),
])("parsePdfValue returns null for %j", (text) => {
  expect(parse(text)).toBeNull();
});
