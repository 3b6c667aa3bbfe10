import assert from "node:assert/strict";
import { assertRefusal, fetchReply, jsonBody, post, sendRaw } from "./http-client.ts";
import {
  BOUNDARY,
  fieldPart,
  filePart,
  MULTIPART_TYPE,
  multipart,
  type Part,
  pseudoRandomBytes,
} from "./multipart.ts";
import { consumedBodyTest, parsedTest, type Scope, withDirectory, withHost } from "./scope.ts";
import { sha256, UPLOAD_LIMITS, type UploadReport, uploadService } from "./services.ts";
import {
  checkReport,
  HEADERS,
  KIB,
  MIB,
  oneFile,
  PNG,
  type UploadHost,
  uploadHead,
  withUploads,
} from "./upload-requests.ts";

/** Uploads that are received, and bodies that are not uploads. */
export function uploadsBehaviour(scope: Scope): void {
  const { test, harness, mountPath } = scope;

  test("upload() returns the file with name, type, fields and hash, and dispose() deletes its file", () =>
    withUploads(scope, {}, async (host) => {
      const body = multipart([
        fieldPart("name", "Über­schrift 图片 🏝"),
        filePart("imagedata", "Grüße 图片.png", "Image/PNG; q=1", PNG),
        fieldPart("empty", ""),
        fieldPart("name", "the last wins"),
      ]);
      const reply = await post(host.base, HEADERS, body);
      assert.equal(reply.status, 200, reply.body.toString());
      const hash = sha256(PNG);
      const expected: UploadReport = {
        name: "Grüße 图片.png",
        declaredType: "image/png",
        size: PNG.length,
        sha256: hash,
        headLength: 64 * KIB,
        headSha256: sha256(PNG.subarray(0, 64 * KIB)),
        diskSha256: hash,
        diskMode: 0o600,
        fields: { name: "the last wins", empty: "" },
        fieldsPrototype: "null",
      };
      assert.deepEqual(jsonBody(reply), expected);
    }));

  test("upload() reports an empty type for a file part without Content-Type, and its declared type otherwise", () =>
    withUploads(scope, {}, async (host) => {
      const disposition = 'Content-Disposition: form-data; name="imagedata"; filename="a.png"';
      const text = fieldPart("name", 'filename="b.png"');
      const cases: [string[], string][] = [
        [[disposition], ""],
        [["Content-Transfer-Encoding: binary", disposition], ""],
        [[disposition, "Content-Type: text/plain"], "text/plain"],
        [["CONTENT-TYPE: image/jpg", disposition], "image/jpg"],
        [["Content-Type: application/octet-stream", disposition], "application/octet-stream"],
      ];
      for (const [headers, declaredType] of cases) {
        const body = multipart([text, { headers, content: PNG }, text]);
        // Whole, and byte by byte up to the file: the headers then arrive in many chunks.
        const pieces = [...body.subarray(0, 400)].map((byte) => Buffer.from([byte]));
        for (const sent of [body, [...pieces, body.subarray(400)]]) {
          const report = checkReport(await post(host.base, HEADERS, sent), PNG);
          assert.equal(report.declaredType, declaredType, headers.join());
        }
      }
    }));

  test("upload() finds the file in each part that may have it, and ignores texts and empty inputs beside it", async () => {
    const file = (name: string) => filePart(name, "a.png", "image/png", PNG);
    const empty = filePart("upload", "", "application/octet-stream", "");
    const beside = [fieldPart("upload", "{}"), fieldPart("name", "n"), empty];
    for (const fileFields of [["imagedata", "upload"], "any"] as const) {
      await withUploads(scope, { fileFields }, async (host) => {
        for (const parts of [[file("upload")], [...beside, file("upload")], [file("imagedata"), ...beside]]) {
          const report = checkReport(await post(host.base, HEADERS, multipart(parts)), PNG);
          assert.equal(report.name, "a.png");
        }
        for (const parts of [beside, [file("upload"), file("imagedata")]]) {
          assertRefusal(await post(host.base, HEADERS, multipart(parts)), 400, "bad_request");
        }
        const other = await post(host.base, HEADERS, multipart([file("other")]));
        if (fileFields === "any") checkReport(other, PNG);
        else assertRefusal(other, 400, "bad_request");
      });
    }
  });

  test("upload() accepts the delimiters and headers that RFC 2046 and RFC 9110 allow", () =>
    withUploads(scope, {}, async (host) => {
      const disposition = 'Content-Disposition: form-data; ; name="imagedata";\r\n filename="a.png";';
      const head = `preamble\r\n--B \t\r\n${disposition}\r\nContent-Type: image/png;\r\n\r\n`;
      const body = Buffer.concat([Buffer.from(head), PNG, Buffer.from("\r\n--B--  \r\nepilogue")]);
      for (const type of ["multipart/form-data; boundary=B;", 'Multipart/Form-Data; ; BOUNDARY="\\B"']) {
        const report = checkReport(await post(host.base, { "Content-Type": type }, body), PNG);
        assert.deepEqual([report.name, report.declaredType], ["a.png", "image/png"]);
      }
    }));

  test("upload() receives files of every size intact, in one piece and in thousands of chunks", () =>
    withUploads(scope, {}, async (host) => {
      const data = pseudoRandomBytes(6 * MIB);
      for (const size of [0, 1, 64 * KIB - 1, 64 * KIB, 64 * KIB + 1, MIB, 5 * MIB, 6 * MIB]) {
        const content = data.subarray(0, size);
        checkReport(await post(host.base, HEADERS, oneFile(content)), content);
      }
      // Chunked, and split at every position: within the boundary and the headers too.
      const content = data.subarray(0, 3000);
      const body = [...oneFile(content)].map((byte) => Buffer.from([byte]));
      checkReport(await post(host.base, HEADERS, body), content);
    }));

  test("upload() keeps content that looks like a boundary", () =>
    withUploads(scope, {}, async (host) => {
      const content = Buffer.from(
        `\r\n--${BOUNDARY.slice(0, -1)}\r\n\r\n--\r\n-${BOUNDARY}--\r\n`.repeat(50),
      );
      checkReport(await post(host.base, HEADERS, oneFile(content)), content);
    }));

  test("upload() decodes the file names that clients send", () =>
    withUploads(scope, {}, async (host) => {
      for (const [parameters, name] of [
        ['filename="C:\\\\Users\\\\me\\\\pic.png"', "pic.png"],
        ['filename="../../etc/passwd"', "passwd"],
        ['filename="a%22b.png"', 'a"b.png'],
        ["filename=\"x.png\"; filename*=UTF-8''caf%C3%A9.png", "café.png"],
        ['filename="50%.png"', "50%.png"],
        ['filename="broken \uFFFD name.png"', "broken \uFFFD name.png"],
        [`filename="${"n".repeat(500)}.png"`, `${"n".repeat(500)}.png`],
      ]) {
        const headers = [
          `Content-Disposition: form-data; name="imagedata"; ${parameters}`,
          "Content-Type: image/png",
        ];
        const reply = await post(host.base, HEADERS, multipart([{ headers, content: PNG }]));
        assert.equal(checkReport(reply, PNG).name, name);
      }
    }));

  test("several uploads on one connection are received one after another", () =>
    withUploads(scope, {}, async (host) => {
      const body = oneFile();
      const [first, last] = ["", "Connection: close\r\n"].map((more) =>
        Buffer.concat([Buffer.from(uploadHead(mountPath, body.length, more)), body]),
      ) as [Buffer, Buffer];
      const raw = await sendRaw(host.origin, first, last);
      assert.equal(raw.split("HTTP/1.1 200 OK").length, 3, raw);
    }));

  test("upload() rejects a body of another type, and one without a boundary or content", () =>
    withUploads(scope, {}, async (host) => {
      const body = oneFile("x");
      for (const [type, content, status, code] of [
        ["image/png", body, 415, "unsupported_media"],
        ["multipart/mixed; boundary=x", body, 415, "unsupported_media"],
        ["application/x-www-form-urlencoded", "imagedata=x", 415, "unsupported_media"],
        ["application/json", "{}", 415, "unsupported_media"],
        ["", body, 415, "unsupported_media"],
        ["multipart/form-data", body, 400, "bad_request"],
        ["multipart/form-data; boundary=", body, 400, "bad_request"],
        ['multipart/form-data; boundary=""', body, 400, "bad_request"],
        ["multipart/form-data; boundary=a b", body, 400, "bad_request"],
        [`multipart/form-data; boundary=${"b".repeat(200)}`, body, 400, "bad_request"],
        ["multipart/form-data; boundary=other", body, 400, "bad_request"],
        [MULTIPART_TYPE, "", 400, "bad_request"],
        [MULTIPART_TYPE, [], 400, "bad_request"],
      ] as const) {
        const reply = await post(
          host.base,
          type === "" ? {} : { "Content-Type": type },
          typeof content === "string" || Buffer.isBuffer(content) ? content : [...content],
        );
        assertRefusal(reply, status, code, type);
      }
      const without = await fetchReply(`${host.base}/`, { method: "POST", headers: HEADERS });
      assertRefusal(without, 400, "bad_request");
    }));

  test("upload() rejects with a server error if the spool directory is missing", () =>
    withDirectory(async (directory) => {
      const service = uploadService({ ...UPLOAD_LIMITS, spoolDirectory: `${directory}/missing` });
      await withHost(scope, service, async (host) => {
        const reply = await post(host.base, HEADERS, oneFile());
        assertRefusal(reply, 503, "store_unavailable");
      });
    }));

  parsedTest(
    scope,
    "fields",
    "upload() receives the file although the host parses JSON and forms",
    uploadService(UPLOAD_LIMITS),
    async (host) => {
      const body = multipart([fieldPart("name", "x"), filePart("imagedata", "a.png", "image/png", PNG)]);
      checkReport(await post(host.base, HEADERS, body), PNG);
    },
  );

  if (harness.parsing.includes("files")) {
    const receive = async (host: UploadHost) => {
      const send = (...parts: Part[]) => post(host.base, HEADERS, multipart(parts));
      const file = filePart("imagedata", "Grüße.png", "image/png", PNG);
      const report = checkReport(await send(fieldPart("name", "x"), file, fieldPart("name", "y")), PNG);
      assert.equal(report.name, "Grüße.png");
      assert.equal(report.declaredType, "image/png");
      assert.deepEqual(report.fields, { name: "y" });
      for (const [parts, code] of [
        [[filePart("other", "a.png", "image/png", PNG)], "bad_request"],
        [[file, file], "bad_request"],
        [[filePart("imagedata", "a.png", "image/png", Buffer.alloc(301 * KIB))], "too_large"],
        [[file, fieldPart("name", "x".repeat(5000))], "bad_request"],
      ] as const) {
        assert.equal(jsonBody(await send(...parts)).code, code);
      }
    };
    test("upload() returns the file that a multipart parser of the host has received", () =>
      withUploads(scope, { maxFileBytes: 300 * KIB }, receive, { parsing: "files" }));
  }

  consumedBodyTest(scope, "upload()", uploadService(UPLOAD_LIMITS), HEADERS, oneFile());
}
