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

type Mutation = (body: Buffer, random: Random) => Buffer;

/** A position, often near a token that matters to the parser. */
function place(body: Buffer, random: Random): number {
  if (body.length === 0) return 0;
  const any = random.below(body.length);
  if (random.below(2) === 0) return any;
  const mark = body.indexOf(random.pick(["\r\n", "--X", '"', ":", ";"]), any);
  return mark === -1 ? any : Math.min(body.length - 1, Math.max(0, mark + random.below(5) - 2));
}

function insert(body: Buffer, at: number, bytes: Buffer): Buffer {
  return Buffer.concat([body.subarray(0, at), bytes, body.subarray(at)]);
}

function cut(body: Buffer, random: Random): [Buffer, Buffer, Buffer] {
  const from = place(body, random);
  const to = Math.min(body.length, from + 1 + random.below(40));
  return [body.subarray(0, from), body.subarray(from, to), body.subarray(to)];
}

const MUTATIONS: readonly [Mutation, ...Mutation[]] = [
  function flipBit(body, random) {
    const changed = Buffer.from(body);
    const at = place(body, random);
    changed[at] = (changed[at] ?? 0) ^ (1 << random.below(8));
    return changed;
  },
  function overwrite(body, random) {
    const changed = Buffer.from(body);
    random.bytes(1 + random.below(8)).copy(changed, place(body, random));
    return changed;
  },
  (body, random) => insert(body, place(body, random), random.bytes(1 + random.below(30))),
  (body, random) => insert(body, place(body, random), Buffer.from(random.pick(TOKENS), "latin1")),
  (body, random) => insert(body, place(body, random), Buffer.from(random.pick(TOKENS), "latin1")),
  function remove(body, random) {
    const [before, , after] = cut(body, random);
    return Buffer.concat([before, after]);
  },
  function repeat(body, random) {
    const [before, middle, after] = cut(body, random);
    return Buffer.concat([before, ...Array.from({ length: 2 + random.below(50) }, () => middle), after]);
  },
  function move(body, random) {
    const [before, middle, after] = cut(body, random);
    const rest = Buffer.concat([before, after]);
    return insert(rest, place(rest, random), middle);
  },
  (body, random) => body.subarray(0, place(body, random)),
  (body, random) => body.subarray(place(body, random)),
  function replaceLineEnd(body, random) {
    const at = body.indexOf("\r\n", random.below(Math.max(1, body.length)));
    if (at === -1) return body;
    const other = Buffer.from(random.pick(["\n", "\r", "\r\r\n", "\n\r"]));
    return Buffer.concat([body.subarray(0, at), other, body.subarray(at + 2)]);
  },
];

/** `body` with one to four changes. */
export function mutate(body: Buffer, random: Random): Buffer {
  let mutated = body;
  for (let changes = 1 + random.below(4); changes > 0; changes--)
    mutated = random.pick(MUTATIONS)(mutated, random);
  return mutated;
}

/** Bytes in up to four pieces, so that tokens arrive split. */
export function split(bytes: Buffer, random: Random): Buffer[] {
  const places = Array.from({ length: random.below(4) }, () => random.below(bytes.length)).sort(
    (a, b) => a - b,
  );
  return [0, ...places].map((from, index) => bytes.subarray(from, places[index] ?? bytes.length));
}
