import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { assertRefusal, jsonBody, jsonOf, post, sendRaw, statusOf } from "./http-client.ts";
import { BOUNDARY, fieldPart, filePart, multipart, pseudoRandomBytes } from "./multipart.ts";
import { countDescriptors, type Scope } from "./scope.ts";
import type { UploadReport } from "./services.ts";
import { HEADERS, withUploads } from "./upload-requests.ts";

const PNG = pseudoRandomBytes(3000);
const FILE = filePart("imagedata", "a.png", "image/png", PNG);
const CRLF = "\r\n";

function cutEnd(body: Buffer, count: number): Buffer {
  return body.subarray(0, body.length - count);
}

function part(disposition: string | Buffer, content: string | Buffer = PNG) {
  return multipart([{ headers: [disposition, "Content-Type: image/png"], content }]);
}

/** Malformed bodies, rejected as client errors, with the boundary {@link BOUNDARY}. */
const MALFORMED: Record<string, string | Buffer> = {
  "no file": multipart([fieldPart("name", "x")]),
  "no part at all": multipart([]),
  "two files of the right name": multipart([FILE, FILE]),
  "a second file of another name": multipart([FILE, filePart("more", "b.png", "image/png", PNG)]),
  "a file of another name": multipart([filePart("file", "a.png", "image/png", PNG)]),
  "a file without a file name": part('Content-Disposition: form-data; name="imagedata"'),
  "an empty file name": part('Content-Disposition: form-data; name="imagedata"; filename=""'),
  "an empty field name (CVE-2025-48997)": part('Content-Disposition: form-data; name=""; filename="a.png"'),
  "no field name (CVE-2025-47944)": part('Content-Disposition: form-data; filename="a.png"'),
  "a text field without a name": multipart([
    FILE,
    { headers: ["Content-Disposition: form-data"], content: "x" },
  ]),
  "a part without Content-Disposition": multipart([{ headers: ["Content-Type: image/png"], content: PNG }]),
  "a part whose disposition is not form-data": part(
    'Content-Disposition: attachment; name="imagedata"; filename="a.png"',
  ),
  "an unclosed quote": part('Content-Disposition: form-data; name="imagedata'),
  "no final boundary": cutEnd(multipart([FILE]), `--${BOUNDARY}--\r\n`.length),
  "a final boundary without its dashes (CVE-2026-3520)": Buffer.concat([
    cutEnd(multipart([FILE]), 4),
    Buffer.from(CRLF),
  ]),
  "half a final boundary": cutEnd(multipart([FILE]), 12),
  "an end within a part header": `--${BOUNDARY}\r\nContent-Disposition: form-da`,
  "an end within the file": cutEnd(multipart([FILE]), 1000),
  "nothing but a preamble": "nothing to see here\r\n".repeat(100),
  "a space in the final boundary": Buffer.from(
    multipart([FILE])
      .toString("latin1")
      .replace(`--${BOUNDARY}--`, `--${BOUNDARY.slice(0, 9)} ${BOUNDARY.slice(9)}--`),
    "latin1",
  ),
  "nothing but the final boundary": `--${BOUNDARY}--\r\n`,
  "a header line without a colon (CVE-2022-24434)": `--${BOUNDARY}\r\nContent-Disposition\r\n\r\nx\r\n--${BOUNDARY}--\r\n`,
  "a header that begins with a space (CVE-2022-24434)": `--${BOUNDARY}\r\n Content-Disposition: form-data\r\n\r\nx\r\n--${BOUNDARY}--\r\n`,
  "bare line feeds": multipart([FILE]).toString("latin1").replaceAll(CRLF, "\n"),
  "NUL in a header": part('Content-Disposition: form-data; name="image\0data"; filename="a.png"'),
  "ten thousand header lines": multipart([
    { headers: [...FILE.headers, ...Array<string>(10_000).fill("X-Bomb: 1")], content: PNG },
  ]),
  "a header line of 1 MB": multipart([
    { headers: [...FILE.headers, `X-Bomb: ${"b".repeat(1e6)}`], content: PNG },
  ]),
  "ten thousand text fields": multipart([FILE, ...Array(10_000).fill(fieldPart("a", "b"))]),
  "ten thousand files": multipart(Array(10_000).fill(filePart("imagedata", "a.png", "image/png", "x"))),
  "ten thousand empty file parts": multipart(Array(10_000).fill(filePart("imagedata", "", "image/png", ""))),
  "a text field over its limit": multipart([FILE, fieldPart("name", "x".repeat(4097))]),
  "a field name of 10 KB": multipart([FILE, fieldPart("n".repeat(10_000), "x")]),
  "a field name nested three thousand levels deep (CVE-2026-5079)": multipart([
    FILE,
    fieldPart(`a${"[b]".repeat(3000)}`, "x"),
  ]),
  "a file name that is not UTF-8": part(
    Buffer.from('Content-Disposition: form-data; name="imagedata"; filename="caf\xe9.png"', "latin1"),
  ),
  "a text field that is not UTF-8": multipart([FILE, fieldPart("name", Buffer.from("caf\xe9", "latin1"))]),
  "a field name that is not UTF-8": multipart([
    FILE,
    { headers: [Buffer.from('Content-Disposition: form-data; name="\xff"', "latin1")], content: "x" },
  ]),
  "a text field of an unknown charset": multipart([
    FILE,
    {
      headers: ['Content-Disposition: form-data; name="x"', "Content-Type: text/plain; charset=martian"],
      content: "x",
    },
  ]),
};

export function hostileBodiesBehaviour(scope: Scope): void {
  const { test, mountPath } = scope;

  for (const [title, body] of Object.entries(MALFORMED)) {
    test(`upload() rejects ${title} with bad_request, and the next upload succeeds`, () =>
      withUploads(scope, {}, async (host) => {
        const bytes = Buffer.from(body);
        for (const sent of [bytes, [bytes.subarray(0, 60), bytes.subarray(60)]]) {
          const reply = await post(host.base, HEADERS, sent);
          assertRefusal(reply, 400, "bad_request");
          assert.ok(String(jsonBody(reply).message).length > 10);
        }
        assert.deepEqual(await readdir(host.spoolDirectory), []);
        assert.equal((await post(host.base, HEADERS, multipart([FILE]))).status, 200);
        assert.equal(host.log.settled, host.log.started);
        assert.equal(host.lastError(), undefined);
      }));
  }

  test("the server survives the request of expressjs/multer#1338 (CVE-2025-7338)", () =>
    withUploads(scope, {}, async (host) => {
      const body = [
        "------FormBoundary",
        'Content-Disposition: form-data; name="image"; filename=""',
        "Content-Type: application/octet-stream",
        "",
        "",
        "------FormBoundar",
      ].join(CRLF);
      const raw = await sendRaw(
        host.origin,
        [
          `POST ${mountPath}/ HTTP/1.1`,
          "Host: localhost:8888",
          "Content-Type: multipart/form-data; boundary=----FormBoundary",
          `Content-Length: ${body.length}`,
          "Connection: close",
          "",
          body,
        ].join(CRLF),
      );
      assert.equal(statusOf(raw), 400);
      assert.equal((jsonOf(raw) as { code: string }).code, "bad_request");
    }));

  test("upload() treats hostile names as plain names (CVE-2026-5038, CVE-2026-77078)", () =>
    withUploads(scope, {}, async (host) => {
      const names = [
        "__proto__",
        "constructor",
        "a[__proto__][x]",
        "a[9999999999]",
        "toString",
        "a[b][c]",
        "[]",
      ];
      const body = multipart([...names.map((name) => fieldPart(name, "x")), FILE]);
      const reply = await post(host.base, HEADERS, body);
      assert.equal(reply.status, 200, reply.body.toString());
      const { fields, fieldsPrototype } = jsonBody<UploadReport>(reply);
      assert.equal(fieldsPrototype, "null");
      assert.deepEqual(Object.keys(fields).sort(), names.sort());
      assert.ok(Object.values(fields).every((value) => value === "x"));
      assert.equal(Reflect.get({}, "x"), undefined);
    }));

  test("a hundred simultaneous malformed bodies leak no descriptor and no file (CVE-2025-47935)", () =>
    withUploads(scope, {}, async (host) => {
      const send = (body: string | Buffer) => post(host.base, HEADERS, body);
      await send(multipart([FILE]));
      const before = await countDescriptors();
      const bodies = Object.values(MALFORMED).filter((body) => body.length < 100_000);
      for (let round = 0; round < 100; round += 10) {
        await Promise.all(
          bodies
            .slice(round % bodies.length)
            .slice(0, 10)
            .map(send),
        );
      }
      assert.deepEqual(await readdir(host.spoolDirectory), []);
      assert.equal(host.log.settled, host.log.started);
      // Connections may still be closing on both sides.
      assert.ok((await countDescriptors()) <= before + 24);
    }));
}
