import type { Random } from "./random.ts";

/** Tokens with a meaning to a multipart parser. */
const TOKENS = [
  "\r\n",
  "\r\n\r\n",
  "--",
  "--X",
  "\r\n--X",
  "\r\n--X--\r\n",
  "--X\r\n",
  "\0",
  '"',
  "\\",
  ";",
  ":",
  '; filename="b.svg"',
  "; filename*=UTF-8''%F0%9F",
  'Content-Disposition: form-data; name="imagedata"\r\n',
  'Content-Disposition: form-data; name="__proto__"\r\n\r\n',
  "Content-Type: image/png\r\n",
  "Content-Transfer-Encoding: base64\r\n",
  "\xff\xfe",
  "\xc3",
  " ",
  "%0D%0A",
] as const;

/** What matters to a parser: texts to insert, and marks near which it changes its state. */
export interface Syntax {
  tokens: readonly string[];
  marks: readonly [string, ...string[]];
}

const MULTIPART: Syntax = { tokens: TOKENS, marks: ["\r\n", "--X", '"', ":", ";"] };

type Mutation = (body: Buffer, random: Random, syntax: Syntax) => Buffer;

/** A position, often near a mark. */
function place(body: Buffer, random: Random, { marks }: Syntax): number {
  if (body.length === 0) return 0;
  const any = random.below(body.length);
  if (random.below(2) === 0) return any;
  const mark = body.indexOf(random.pick(marks), any, "latin1");
  return mark === -1 ? any : Math.min(body.length - 1, Math.max(0, mark + random.below(5) - 2));
}

function anyToken({ tokens }: Syntax, random: Random): Buffer {
  return Buffer.from(tokens[random.below(tokens.length)] ?? "", "latin1");
}

function insert(body: Buffer, at: number, bytes: Buffer): Buffer {
  return Buffer.concat([body.subarray(0, at), bytes, body.subarray(at)]);
}

function cut(body: Buffer, random: Random, syntax: Syntax): [Buffer, Buffer, Buffer] {
  const from = place(body, random, syntax);
  const to = Math.min(body.length, from + 1 + random.below(40));
  return [body.subarray(0, from), body.subarray(from, to), body.subarray(to)];
}

const MUTATIONS: readonly [Mutation, ...Mutation[]] = [
  function flipBit(body, random, syntax) {
    const changed = Buffer.from(body);
    const at = place(body, random, syntax);
    changed[at] = (changed[at] ?? 0) ^ (1 << random.below(8));
    return changed;
  },
  function overwrite(body, random, syntax) {
    const changed = Buffer.from(body);
    random.bytes(1 + random.below(8)).copy(changed, place(body, random, syntax));
    return changed;
  },
  (body, random, syntax) => insert(body, place(body, random, syntax), random.bytes(1 + random.below(30))),
  (body, random, syntax) => insert(body, place(body, random, syntax), anyToken(syntax, random)),
  (body, random, syntax) => insert(body, place(body, random, syntax), anyToken(syntax, random)),
  function overwriteNumber(body, random, syntax) {
    const changed = Buffer.from(body);
    const bytes = Buffer.alloc(random.pick([1, 2, 4]));
    const number = random.pick([0, 1, 0x7f, 0xff, body.length, 0x7fffffff, 0xffffffff]);
    const kept = number % 2 ** (8 * bytes.length);
    if (random.below(2) === 0) bytes.writeUIntBE(kept, 0, bytes.length);
    else bytes.writeUIntLE(kept, 0, bytes.length);
    bytes.copy(changed, place(body, random, syntax));
    return changed;
  },
  function remove(body, random, syntax) {
    const [before, , after] = cut(body, random, syntax);
    return Buffer.concat([before, after]);
  },
  function repeat(body, random, syntax) {
    const [before, middle, after] = cut(body, random, syntax);
    return Buffer.concat([before, ...Array.from({ length: 2 + random.below(50) }, () => middle), after]);
  },
  function move(body, random, syntax) {
    const [before, middle, after] = cut(body, random, syntax);
    const rest = Buffer.concat([before, after]);
    return insert(rest, place(rest, random, syntax), middle);
  },
  (body, random, syntax) => body.subarray(0, place(body, random, syntax)),
  (body, random, syntax) => body.subarray(place(body, random, syntax)),
  function replaceLineEnd(body, random) {
    const at = body.indexOf("\r\n", random.below(Math.max(1, body.length)));
    if (at === -1) return body;
    const other = Buffer.from(random.pick(["\n", "\r", "\r\r\n", "\n\r"]));
    return Buffer.concat([body.subarray(0, at), other, body.subarray(at + 2)]);
  },
];

/** `body` with one to four changes. @param syntax That of multipart bodies, if absent. */
export function mutate(body: Buffer, random: Random, syntax = MULTIPART): Buffer {
  let mutated = body;
  for (let changes = 1 + random.below(4); changes > 0; changes--)
    mutated = random.pick(MUTATIONS)(mutated, random, syntax);
  return mutated;
}

/** Bytes in up to four pieces, so that tokens arrive split. */
export function split(bytes: Buffer, random: Random): Buffer[] {
  const places = Array.from({ length: random.below(4) }, () => random.below(bytes.length)).sort(
    (a, b) => a - b,
  );
  return [0, ...places].map((from, index) => bytes.subarray(from, places[index] ?? bytes.length));
}
