import fc from "fast-check";
import type { JsonSchema } from "../../packages/core/src/schema/json-schema.ts";

const DAY_MS = 86_400_000;

/** Texts that are special to some parser or language. */
const HOSTILE = [
  "",
  " ",
  "null",
  "undefined",
  "true",
  "[]",
  "{}",
  "0",
  "-1",
  "1.5",
  "1e3",
  "0x10",
  "007",
  "NaN",
  "9".repeat(30),
  "a".repeat(300),
  "é".repeat(600),
  "x".repeat(1100),
  "../../etc/passwd",
  "%00",
  "\u0000",
  "a\r\nSet-Cookie: b=c",
  "<script>alert(1)</script>",
  "' OR 1=1 --",
  "__proto__",
  "constructor",
  "\ud800",
  "\u202etxt.exe",
  "١٢",
  "1,2",
  "high,low",
  "800X600",
  "x",
  "0x0",
  "8193x1",
  "00800x",
  "2026-02-30T12:00:00Z",
  "2027-01-31T24:00:00Z",
  "2027-01-31",
  "127.0.0.1",
  "example.com:80",
  "https://example.com/",
  "a@b@c",
  "J. R.",
];

/** Texts for a parameter: valid by its schema, almost valid, and arbitrary. */
export function textsFor(name: string, schema: JsonSchema): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 8, arbitrary: fittingTexts(name, schema) },
    { weight: 2, arbitrary: edgeTexts(schema) },
    { weight: 2, arbitrary: fc.constantFrom(...HOSTILE) },
    { weight: 1, arbitrary: fc.string({ unit: "grapheme", maxLength: 40 }) },
  );
}

/** Values for a field of a JSON body. */
export function valuesFor(name: string, schema: JsonSchema): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 5, arbitrary: textsFor(name, schema) },
    { weight: 2, arbitrary: fittingNumbers(name, schema) },
    { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 1 }) },
    { weight: 1, arbitrary: fc.constantFrom(null, true, 0, 1, -1, 1.5, 1e300, [], {}) },
  );
}

function fittingTexts(name: string, schema: JsonSchema): fc.Arbitrary<string> {
  const { enum: words, type, items, pattern, format, examples, anyOf } = schema;
  if (anyOf?.[0] !== undefined) return fc.oneof(...anyOf.map((each) => fittingTexts(name, each)));
  if (words !== undefined) return fc.constantFrom(...words.map((word) => String(word ?? "")));
  if (items?.enum !== undefined) {
    return fc.subarray([...items.enum], { minLength: 1 }).map((some) => some.join(","));
  }
  if (type === "integer") return fittingNumbers(name, schema).map(String);
  const known = name.startsWith("If-")
    ? ["*", '"another"', "Sat, 01 Jan 2028 00:00:00 GMT"]
    : (examples ?? []).map(String);
  const shown = known.length === 0 ? fc.constant("plain") : fc.constantFrom(...known);
  if (name === "expiresAt") return fc.oneof(soon(), fc.stringMatching(new RegExp(pattern ?? "")));
  // Any box would require a render.
  if (name === "resize")
    return fc.oneof({ weight: 3, arbitrary: fc.constantFrom("1x", "x2", "3x3") }, matching(pattern));
  if (format === "domain") {
    const others = fc.constantFrom(
      "bücher.example",
      "EXAMPLE.com.",
      "https://www.example.com:8080/team?a=b",
      "ann@example.com",
    );
    return fc.oneof(shown, fc.domain(), others);
  }
  return fc.oneof(shown, matching(pattern));
}

function matching(pattern: string | undefined): fc.Arbitrary<string> {
  return pattern === undefined ? fc.string({ maxLength: 60 }) : fc.stringMatching(new RegExp(pattern));
}

function fittingNumbers(name: string, schema: JsonSchema): fc.Arbitrary<number> {
  if (name === "expiresAt") return soon().map((text) => Date.parse(text));
  const { minimum = 0, maximum = 1000 } = schema;
  return fc.oneof(fc.integer({ min: minimum, max: Math.min(maximum, 2 ** 31 - 1) }), fc.constant(1));
}

/** At most as long as a request line allows. */
function edgeTexts({ minimum, maximum, maxLength }: JsonSchema): fc.Arbitrary<string> {
  const numbers = [minimum, maximum].flatMap((edge) =>
    edge === undefined ? [] : [edge - 1, edge, edge + 1],
  );
  const lengths = maxLength === undefined ? [] : [maxLength, maxLength + 1];
  const texts = [
    ...numbers.map(String),
    ...lengths.map((length) => "n".repeat(length)),
    "😀".repeat(Math.min(maxLength ?? 1, 300)),
  ];
  return fc.constantFrom(...texts);
}

/** Dates that an image may expire at. */
function soon(): fc.Arbitrary<string> {
  return fc
    .integer({ min: DAY_MS, max: 300 * DAY_MS })
    .map((inMs) => new Date(Date.now() + inMs).toISOString());
}
