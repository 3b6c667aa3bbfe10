import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { connectTo, fetchReply, readToClose, within } from "./http-client.ts";
import { BOUNDARY, fieldPart, filePart, MULTIPART_TYPE, multipart, pseudoRandomBytes } from "./multipart.ts";
import { type Scope, withDirectory, withHost } from "./scope.ts";
import { sha256, UPLOAD_LIMITS, type UploadReport, uploadService } from "./services.ts";
import { checkReport, HEADERS, KIB, MIB, PNG } from "./upload-requests.ts";

/** Uploads that are received, and bodies that are not uploads. */
export function uploadsBehaviour(scope: Scope): void {
  const { test, harness, mountPath } = scope;

  test("upload() returns the file with name, type, fields and hash, and dispose() deletes its file", () =>
    withDirectory(async (spoolDirectory) => {
      const service = uploadService({ ...UPLOAD_LIMITS, spoolDirectory });
      await withHost(scope, service, async (host) => {
        const body = multipart([
          fieldPart("name", "Über­schrift 图片 🏝"),
          filePart("imagedata", "Grüße 图片.png", "Image/PNG; q=1", PNG),
          fieldPart("empty", ""),
          fieldPart("name", "the last wins"),
        ]);
        const reply = await fetchReply(`${host.base}/`, { method: "POST", headers: HEADERS, body });
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
        assert.deepEqual(JSON.parse(reply.body.toString()), expected);
        assert.deepEqual(await readdir(spoolDirectory), []);
      });
    }));

  test("upload() reports an empty type for a file part without Content-Type, and its declared type otherwise", () =>
    withHost(scope, uploadService(UPLOAD_LIMITS), async (host) => {
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
          const reply = await fetchReply(`${host.base}/`, { method: "POST", headers: HEADERS, body: sent });
          const report: UploadReport = JSON.parse(reply.body.toString());
          checkReport(report, Buffer.from(PNG));
          assert.equal(report.declaredType, declaredType, headers.join());
        }
      }
    }));

  test("upload() receives files of every size intact, in one piece and in thousands of chunks", () =>
    withDirectory(async (spoolDirectory) => {
      const service = uploadService({ ...UPLOAD_LIMITS, spoolDirectory });
      await withHost(scope, service, async (host) => {
        const data = pseudoRandomBytes(6 * MIB);
        for (const size of [0, 1, 64 * KIB - 1, 64 * KIB, 64 * KIB + 1, MIB, 5 * MIB, 6 * MIB]) {
          const content = data.subarray(0, size);
          const body = multipart([filePart("imagedata", "a.png", "image/png", content)]);
          const reply = await fetchReply(`${host.base}/`, { method: "POST", headers: HEADERS, body });
          assert.equal(reply.status, 200, reply.body.toString());
          checkReport(JSON.parse(reply.body.toString()), content);
        }
        // Chunked, and split at every position: within the boundary and the headers too.
        const content = data.subarray(0, 3000);
        const whole = multipart([filePart("imagedata", "a.png", "image/png", content)]);
        const body = [...whole].map((byte) => Buffer.from([byte]));
        const reply = await fetchReply(`${host.base}/`, { method: "POST", headers: HEADERS, body });
        checkReport(JSON.parse(reply.body.toString()), content);
      });
    }));

  test("upload() keeps content that looks like a boundary", () =>
    withHost(scope, uploadService(UPLOAD_LIMITS), async (host) => {
      const content = Buffer.from(
        `\r\n--${BOUNDARY.slice(0, -1)}\r\n\r\n--\r\n-${BOUNDARY}--\r\n`.repeat(50),
      );
      const body = multipart([filePart("imagedata", "a.png", "image/png", content)]);
      const reply = await fetchReply(`${host.base}/`, { method: "POST", headers: HEADERS, body });
      checkReport(JSON.parse(reply.body.toString()), content);
    }));

  test("upload() decodes the file names that clients send", () =>
    withHost(scope, uploadService(UPLOAD_LIMITS), async (host) => {
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
        const body = multipart([{ headers, content: PNG }]);
        const reply = await fetchReply(`${host.base}/`, { method: "POST", headers: HEADERS, body });
        assert.equal(reply.status, 200, reply.body.toString());
        assert.equal(JSON.parse(reply.body.toString()).name, name);
      }
    }));

  test("several uploads on one connection are received one after another", () =>
    withHost(scope, uploadService(UPLOAD_LIMITS), async (host) => {
      const body = multipart([filePart("imagedata", "a.png", "image/png", PNG)]);
      const head = `POST ${mountPath}/ HTTP/1.1\r\nHost: a.example\r\nContent-Type: ${MULTIPART_TYPE}\r\nContent-Length: ${body.length}\r\n`;
      const socket = await connectTo(host.origin);
      const reply = readToClose(socket);
      socket.write(Buffer.concat([Buffer.from(`${head}\r\n`), body]));
      socket.write(Buffer.concat([Buffer.from(`${head}Connection: close\r\n\r\n`), body]));
      const raw = await within(reply, "both replies");
      assert.equal(raw.split("HTTP/1.1 200 OK").length, 3, raw);
    }));

  test("upload() rejects a body of another type, and one without a boundary or content", () =>
    withHost(scope, uploadService(UPLOAD_LIMITS), async (host) => {
      const body = multipart([filePart("imagedata", "a.png", "image/png", "x")]);
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
        const reply = await fetchReply(`${host.base}/`, {
          method: "POST",
          headers: type === "" ? {} : { "Content-Type": type },
          body: typeof content === "string" || Buffer.isBuffer(content) ? content : [...content],
        });
        assert.equal(reply.status, status, `${type}: ${reply.body}`);
        assert.equal(JSON.parse(reply.body.toString()).code, code, type);
      }
      const without = await fetchReply(`${host.base}/`, { method: "POST", headers: HEADERS });
      assert.equal(JSON.parse(without.body.toString()).code, "bad_request");
    }));

  test("upload() rejects with a server error if the spool directory is missing", () =>
    withDirectory(async (directory) => {
      const service = uploadService({ ...UPLOAD_LIMITS, spoolDirectory: `${directory}/missing` });
      await withHost(scope, service, async (host) => {
        const body = multipart([filePart("imagedata", "a.png", "image/png", PNG)]);
        const reply = await fetchReply(`${host.base}/`, { method: "POST", headers: HEADERS, body });
        assert.equal(reply.status, 503);
        assert.equal(JSON.parse(reply.body.toString()).code, "store_unavailable");
      });
    }));

  if (harness.parsing.includes("fields")) {
    test("upload() receives the file although the host parses JSON and forms", () =>
      withHost(
        scope,
        uploadService(UPLOAD_LIMITS),
        async (host) => {
          const body = multipart([fieldPart("name", "x"), filePart("imagedata", "a.png", "image/png", PNG)]);
          const reply = await fetchReply(`${host.base}/`, { method: "POST", headers: HEADERS, body });
          checkReport(JSON.parse(reply.body.toString()), PNG);
        },
        { parsing: "fields" },
      ));
  }

  if (harness.parsing.includes("files")) {
    test("upload() returns the file that a multipart parser of the host has received", () =>
      withDirectory((spoolDirectory) =>
        withHost(
          scope,
          uploadService({ ...UPLOAD_LIMITS, maxFileBytes: 300 * KIB, spoolDirectory }),
          async (host) => {
            const send = (body: Buffer) =>
              fetchReply(`${host.base}/`, { method: "POST", headers: HEADERS, body });
            const file = filePart("imagedata", "Grüße.png", "image/png", PNG);
            const reply = await send(multipart([fieldPart("name", "x"), file, fieldPart("name", "y")]));
            assert.equal(reply.status, 200, reply.body.toString());
            const report: UploadReport = JSON.parse(reply.body.toString());
            checkReport(report, PNG);
            assert.equal(report.name, "Grüße.png");
            assert.equal(report.declaredType, "image/png");
            assert.deepEqual(report.fields, { name: "y" });
            for (const [parts, code] of [
              [[filePart("other", "a.png", "image/png", PNG)], "bad_request"],
              [[file, file], "bad_request"],
              [[filePart("imagedata", "a.png", "image/png", Buffer.alloc(301 * KIB))], "too_large"],
              [[file, fieldPart("name", "x".repeat(5000))], "bad_request"],
            ] as const) {
              assert.equal(JSON.parse((await send(multipart(parts))).body.toString()).code, code);
            }
            assert.deepEqual(await readdir(spoolDirectory), []);
          },
          { parsing: "files" },
        ),
      ));
  }

  if (harness.parsing.includes("nothing left")) {
    test("upload() rejects with host_misuse at once if the host has consumed the body", () =>
      withHost(
        scope,
        uploadService(UPLOAD_LIMITS),
        async (host) => {
          const body = multipart([filePart("imagedata", "a.png", "image/png", PNG)]);
          const reply = await fetchReply(`${host.base}/`, { method: "POST", headers: HEADERS, body });
          assert.equal(reply.status, 500);
          const { code, message } = JSON.parse(reply.body.toString());
          assert.equal(code, "host_misuse");
          assert.match(message, /before body parsers/);
        },
        { parsing: "nothing left" },
      ));
  }
}
