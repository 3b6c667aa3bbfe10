import { deflateSync } from "node:zlib";

/** What the data of a stream are encoded with, by the names of filters, the last one first. */
export function encodeWith(filters: readonly string[], data: Buffer, earlyChange = true): Buffer {
  return filters.reduceRight((bytes, filter) => encoders[filter]?.(bytes, earlyChange) ?? bytes, data);
}

const encoders: Record<string, (data: Buffer, earlyChange: boolean) => Buffer> = {
  FlateDecode: (data) => deflateSync(data),
  ASCIIHexDecode: (data) => Buffer.from(`${data.toString("hex").replace(/.{70}/g, "$&\n")}>`),
  ASCII85Decode: ascii85,
  RunLengthDecode: runLengths,
  LZWDecode: lzw,
};

function ascii85(data: Buffer): Buffer {
  let text = "";
  for (let at = 0; at < data.length; at += 4) {
    const group = data.subarray(at, at + 4);
    const word = Buffer.concat([group], 4).readUInt32BE();
    const digits = [85 ** 4, 85 ** 3, 85 ** 2, 85, 1].map((unit) =>
      String.fromCharCode(33 + (Math.floor(word / unit) % 85)),
    );
    text += word === 0 && group.length === 4 ? "z" : digits.slice(0, group.length + 1).join("");
  }
  return Buffer.from(`${text.replace(/.{75}/g, "$&\n")}~>`);
}

function runLengths(data: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < data.length; ) {
    let run = 1;
    while (run < 128 && at + run < data.length && data[at + run] === data[at]) run++;
    if (run > 2) parts.push(Buffer.of(257 - run, data[at] ?? 0));
    const literal = data.subarray(at, at + Math.min(run > 2 ? 0 : 20, data.length - at));
    if (run <= 2) parts.push(Buffer.of(literal.length - 1), literal);
    at += run > 2 ? run : literal.length;
  }
  return Buffer.concat([...parts, Buffer.of(128)]);
}

/** LZW as PDF has it: the highest bit first, and codes one longer from one code earlier on, unless told otherwise. */
function lzw(data: Buffer, earlyChange: boolean): Buffer {
  const bits: string[] = [];
  let codes = new Map<string, number>();
  let next = 258;
  const width = () => Math.min(12, Math.max(9, Math.floor(Math.log2(next - 1 + (earlyChange ? 1 : 0))) + 1));
  const emit = (code: number) => bits.push(code.toString(2).padStart(width(), "0"));
  emit(256);
  let text = "";
  const codeOf = (string: string) => (string.length === 1 ? string.charCodeAt(0) : (codes.get(string) ?? 0));
  for (const character of data.toString("latin1")) {
    if (text === "" || codes.has(text + character)) {
      text += character;
      continue;
    }
    emit(codeOf(text));
    codes.set(text + character, next++);
    if (next === 4094) {
      emit(256);
      codes = new Map();
      next = 258;
    }
    text = character;
  }
  if (text !== "") emit(codeOf(text));
  next++;
  emit(257);
  return Buffer.from(
    (bits.join("").match(/.{1,8}/g) ?? []).map((byte) => Number.parseInt(byte.padEnd(8, "0"), 2)),
  );
}
