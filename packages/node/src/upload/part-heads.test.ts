import { expect, test } from "vitest";
import { type PartHead, PartHeads } from "./part-heads.ts";

const PNG = Buffer.from("\x89PNG\r\n\x1a\n\r\n--B-\r\n--Bx\r\n--B \tx", "latin1");

function body(...parts: (readonly [head: string, content?: string | Buffer])[]): Buffer {
  const pieces = parts.flatMap(([head, content = "x"]) => [`--B\r\n${head}\r\n\r\n`, content, "\r\n"]);
  return Buffer.concat([...pieces, "--B--\r\n"].map((piece) => Buffer.from(piece)));
}

/** Feeds bytes in chunks of a length. @returns the heads, and what goes to the parser. */
function read(bytes: Buffer, step = bytes.length, isWanted: (head: PartHead | null) => boolean = () => true) {
  const heads: (PartHead | null)[] = [];
  const reader = new PartHeads("B", 64, (head) => {
    heads.push(head);
    return isWanted(head);
  });
  const pieces: Buffer[] = [];
  for (let start = 0; start < bytes.length; start += step) {
    pieces.push(...reader.push(bytes.subarray(start, start + step)));
  }
  return { heads, written: Buffer.concat(pieces).toString("latin1") };
}

/** The one head of a body. */
function headOf(disposition: string, ...others: string[]): PartHead | null | undefined {
  return read(body([[`Content-Disposition: ${disposition}`, ...others].join("\r\n")])).heads[0];
}

const FILE = '--B\r\nContent-Disposition: form-data; name="file"; filename="file"\r\n\r\n';

test.each([1, 2, 3, 5, 7, 11, 64, 1000])(
  "content reaches the parser unchanged in chunks of %d bytes",
  (step) => {
    const sent = body(
      ['Content-Disposition: form-data; name="n"', "text"],
      ['Content-Disposition: form-data; name="f"; filename="a.png"\r\nContent-Type: Image/PNG; q=1', PNG],
    );
    const text = '\r\n--B\r\nContent-Disposition: form-data; name="n"\r\n\r\ntext';
    expect(read(sent, step)).toEqual({
      heads: [
        expect.objectContaining({ name: "n", fileName: null, type: "" }),
        expect.objectContaining({ name: "f", fileName: "a.png", type: "image/png" }),
      ],
      written: `${text}\r\n${FILE}${PNG.toString("latin1")}\r\n--B--\r\n`,
    });
  },
);

test.each([1, 4, 1000])("delimiters may have what RFC 2046 allows, in chunks of %d bytes", (step) => {
  const head = 'Content-Disposition: form-data; name="f"; filename="a"';
  const expected = `\r\n${FILE}x\r\n--B--\r\n`;
  for (const sent of [
    `preamble\r\n--B\r\n${head}\r\n\r\nx\r\n--B--\r\nepilogue\r\n--B\r\n`,
    `--B \t\r\n${head}\r\n\r\nx\r\n--B--`,
    `--B\r\n${head}\r\n\r\nx\r\n--B--  \r\n`,
    `--B\r\n${head.replaceAll("; ", ";\r\n\t")}\r\n\r\nx\r\n--B--\r\n`,
  ]) {
    expect(read(Buffer.from(sent), step).written, sent).toBe(expected);
  }
  const shared = `--B\r\n${head}\r\n\r\n--B--\r\n`;
  expect(read(Buffer.from(shared), step).written).toBe(`\r\n${FILE.slice(0, -2)}\r\n\r\n--B--\r\n`);
});

test("parameters are read in every form that clients send", () => {
  for (const [disposition, fileName] of [
    ['form-data; name="f"; filename="a.png"', "a.png"],
    ["FORM-DATA;NAME=f;FILENAME=a.png", "a.png"],
    ['form-data; ; filename = "a.png" ;name="f";', "a.png"],
    ['form-data; name="f"; filename=my photo.png', "my photo.png"],
    ['form-data; name="f"; filename="a\\"b.png"', 'a"b.png'],
    ['form-data; name="f"; filename="a%22b.png"', 'a"b.png'],
    ['form-data; name="f"; filename="C:\\pictures\\a.png"', "a.png"],
    ['form-data; filename="C:\\pictures\\"; name="f"', "pictures"],
    ['form-data; name="f"; filename=".."', ".."],
    ['form-data; name="f"; filename="/"', "/"],
    ['form-data; name="f"; filename="x"; filename*=utf-8\'\'caf%C3%A9.png', "café.png"],
    ["form-data; name=\"f\"; filename*=ISO-8859-1'de'caf%E9.png", "café.png"],
    ['form-data; name="f"; filename="x"; filename*=bogus', "x"],
    ['form-data; name="f"; filename*=bogus', "bogus"],
    ['form-data; name="f"; filename=""', ""],
    ['form-data; name="f"', null],
  ] as const) {
    expect(headOf(disposition), disposition).toMatchObject({ name: "f", fileName });
  }
});

test("the type is that of the head, and the first of a repeated header counts", () => {
  const disposition = 'form-data; name="f"; filename="a"';
  for (const [lines, type] of [
    [["CONTENT-TYPE: Image/Png; name=x"], "image/png"],
    [["Content-Type: image/png;"], "image/png"],
    [["Content-Type:"], ""],
    [["Content-Type: image/png", "Content-Type: text/html"], "image/png"],
    [[], ""],
  ] as const) {
    expect(headOf(disposition, ...lines), lines.join()).toMatchObject({ type });
  }
});

test("dropped parts and parts that are no form data do not reach the parser", () => {
  const sent = body(
    ['Content-Disposition: form-data; name="f"; filename="a"', "kept"],
    ['Content-Disposition: form-data; name="f"; filename=""', "dropped"],
    ["Content-Disposition: attachment; name=f; filename=b", "dropped"],
    ["Content-Type: image/png", "dropped"],
  );
  const { heads, written } = read(sent, 9, (head) => head !== null && head.fileName !== "");
  expect(heads.slice(2)).toEqual([null, null]);
  expect(written).toBe(`\r\n${FILE}kept\r\n--B--\r\n`);
});

test("malformed heads are refused with a reason", () => {
  for (const [lines, reason] of [
    ["Content-Disposition", /a line that is no header/],
    [" Content-Disposition: form-data; name=f", /a line that is no header/],
    ['Content-Disposition: form-data; name="a\0b"', /a line that is no header/],
    ["Content-Disposition: form-data; name=f\nX: y", /a line that is no header/],
    ['Content-Disposition: form-data; name="f', /malformed parameter/],
    ['Content-Disposition: form-data; name="f" x', /malformed parameter/],
    ["Content-Disposition: form-data; filename=a", /a part has no name/],
    ['Content-Disposition: form-data; name=""', /a part has no name/],
    ["Content-Disposition: form-data; name=f; filename*=utf-8''%ff", /The file name is not valid UTF-8/],
    [`X: ${"x".repeat(17_000)}`, /over 16384 bytes/],
  ] as const) {
    for (const step of [100, 1_000_000]) {
      expect(() => read(body([lines]), step), lines).toThrow(reason);
      expect(() => read(body([lines]), step), lines).toThrow(
        expect.objectContaining({ code: "bad_request" }),
      );
    }
  }
});

test("text that is not UTF-8 is refused, unless it declares another charset or is too long", () => {
  const bytes = (text: string) => Buffer.from(text, "latin1");
  const field = 'Content-Disposition: form-data; name="n"';
  const file = 'Content-Disposition: form-data; name="f"; filename="a"';
  for (const step of [1, 1000]) {
    expect(() => read(body([field, bytes("caf\xe9")]), step)).toThrow(/A text field is not valid UTF-8/);
    expect(() => read(body([field, bytes("caf\xc3\xa9")]), step)).not.toThrow();
    expect(() => read(body([field, bytes("\xe9".repeat(65))]), step)).not.toThrow();
    expect(() => read(body([file, bytes("caf\xe9")]), step)).not.toThrow();
  }
  const latin1 = `${field}\r\nContent-Type: text/plain; charset=iso-8859-1`;
  expect(read(body([latin1, bytes("caf\xe9")])).written).toContain(
    '\r\nContent-Type: text/plain; charset="iso-8859-1"\r\n',
  );
  const named = (head: string) => () => read(Buffer.concat([bytes(`--B\r\n${head}\r\n\r\nx\r\n--B--`)]));
  expect(named('Content-Disposition: form-data; name="\xff"')).toThrow(/The name of a text field is not/);
  expect(named('Content-Disposition: form-data; name="f"; filename="\xff"')).toThrow(/The file name is not/);
});

test("a name with quotes and backslashes is written so that the parser reads the same", () => {
  const { written } = read(body(['Content-Disposition: form-data; name="a\\"b\\\\c"']));
  expect(written).toContain('; name="a\\"b\\\\c"\r\n');
});
