import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import {
  connectTo,
  fetchReply,
  jsonOf,
  readReply,
  readToClose,
  statusOf,
  turn,
  until,
  within,
} from "./http-client.ts";
import { BOUNDARY, fieldPart, filePart, MULTIPART_TYPE, multipart, pseudoRandomBytes } from "./multipart.ts";
import { countDescriptors, type Scope, withDirectory, withHost } from "./scope.ts";
import { json, replying, sha256, UPLOAD_LIMITS, type UploadReport, uploadService } from "./services.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
const HEADERS = { "Content-Type": MULTIPART_TYPE };
const PNG = pseudoRandomBytes(200 * KIB);

export function uploadsBehaviour(scope: Scope): void {
  const { test, harness, mountPath } = scope;

  test("receives a file with its name, type, fields and hash, and leaves nothing behind", () =>
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

  test("receives files of every size intact, in one piece and in thousands", () =>
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
        // Chunked, and torn wherever it hurts: within the boundary and the headers too.
        const content = data.subarray(0, 3000);
        const whole = multipart([filePart("imagedata", "a.png", "image/png", content)]);
        const body = [...whole].map((byte) => Buffer.from([byte]));
        const reply = await fetchReply(`${host.base}/`, { method: "POST", headers: HEADERS, body });
        checkReport(JSON.parse(reply.body.toString()), content);
      });
    }));

  test("keeps bytes that look like a boundary", () =>
    withHost(scope, uploadService(UPLOAD_LIMITS), async (host) => {
      const content = Buffer.from(
        `\r\n--${BOUNDARY.slice(0, -1)}\r\n\r\n--\r\n-${BOUNDARY}--\r\n`.repeat(50),
      );
      const body = multipart([filePart("imagedata", "a.png", "image/png", content)]);
      const reply = await fetchReply(`${host.base}/`, { method: "POST", headers: HEADERS, body });
      checkReport(JSON.parse(reply.body.toString()), content);
    }));

  test("understands the file names that clients send", () =>
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

  test("serves uploads one after another on one connection", () =>
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

  test("refuses a body of another type, and one without a boundary or content", () =>
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

  test("tells a client that keeps sending 64 MiB that this is too large, ten times out of ten", () =>
    withDirectory(async (spoolDirectory) => {
      const service = uploadService({ ...UPLOAD_LIMITS, spoolDirectory });
      await withHost(scope, service, async (host) => {
        const replies = await Promise.all(
          [...Array(10).keys()].map((index) =>
            index % 2 === 0 ? insist(host.origin, mountPath) : insistThroughHttp(`${host.base}/`),
          ),
        );
        assert.deepEqual(
          replies.map(({ status }) => status),
          replies.map(() => 413),
        );
        assert.ok(replies.every(({ text }) => text.includes('"code":"too_large"')));
        assert.ok(replies.every(({ connection }) => connection === "close"));
        assert.deepEqual(await readdir(spoolDirectory), []);
      });
    }));

  test("stops a file of unannounced size at the limit, without reading the rest", () =>
    withDirectory(async (spoolDirectory) => {
      const limits = { ...UPLOAD_LIMITS, maxFileBytes: MIB, spoolDirectory };
      await withHost(scope, uploadService(limits), async (host) => {
        const socket = await connectTo(host.origin);
        const reply = readReply(socket);
        socket.write(
          `POST ${mountPath}/ HTTP/1.1\r\nHost: a.example\r\nContent-Type: ${MULTIPART_TYPE}\r\nTransfer-Encoding: chunked\r\n\r\n`,
        );
        const start = multipart([filePart("imagedata", "a.png", "image/png", "")]);
        writeChunk(socket, start.subarray(0, start.length - `\r\n--${BOUNDARY}--\r\n`.length));
        // Never the end: the reply must come all the same.
        for (let sent = 0; sent <= MIB; sent += 64 * KIB) writeChunk(socket, PNG.subarray(0, 64 * KIB));
        const raw = await within(reply, "the refusal", 5000);
        socket.destroy();
        assert.equal(statusOf(raw), 413);
        assert.match(raw, /\r\nconnection: close\r\n/i);
        assert.equal((jsonOf(raw) as { code: string }).code, "too_large");
        assert.deepEqual(await readdir(spoolDirectory), []);
      });
    }));

  test("takes a file of exactly the limit and refuses one byte more", () =>
    withHost(scope, uploadService({ ...UPLOAD_LIMITS, maxFileBytes: 100_000 }), async (host) => {
      for (const [size, status] of [
        [100_000, 200],
        [100_001, 413],
      ] as const) {
        const body = multipart([filePart("imagedata", "a.png", "image/png", PNG.subarray(0, size))]);
        for (const sent of [body, [body.subarray(0, 5000), body.subarray(5000)]]) {
          const reply = await fetchReply(`${host.base}/`, { method: "POST", headers: HEADERS, body: sent });
          assert.equal(reply.status, status, reply.body.toString());
        }
      }
    }));

  test("gives up on an upload that does not go on, and leaves nothing behind", () =>
    withDirectory(async (spoolDirectory) => {
      const service = uploadService({ ...UPLOAD_LIMITS, idleMs: 50, spoolDirectory });
      await withHost(scope, service, async (host) => {
        const body = multipart([filePart("imagedata", "a.png", "image/png", PNG)]);
        for (const cut of [0, 10, 150, 5000, body.length - 1]) {
          const socket = await connectTo(host.origin);
          const reply = readReply(socket);
          socket.write(uploadHead(mountPath, body.length));
          socket.write(body.subarray(0, cut));
          const raw = await within(reply, "the timeout", 5000);
          socket.destroy();
          assert.equal(statusOf(raw), 408, raw);
          assert.match(raw, /\r\nconnection: close\r\n/i);
          assert.equal((jsonOf(raw) as { code: string }).code, "timeout");
        }
        assert.deepEqual(await readdir(spoolDirectory), []);
      });
    }));

  test("does not give up on an upload that is slow but goes on", () =>
    withHost(scope, uploadService({ ...UPLOAD_LIMITS, idleMs: 800 }), async (host) => {
      const body = multipart([filePart("imagedata", "a.png", "image/png", PNG)]);
      const socket = await connectTo(host.origin);
      const reply = readToClose(socket);
      socket.write(uploadHead(mountPath, body.length, "Connection: close\r\n"));
      const step = Math.ceil(body.length / 12);
      for (let start = 0; start < body.length; start += step) {
        socket.write(body.subarray(start, start + step));
        await turn(90);
      }
      assert.equal(statusOf(await within(reply, "the reply")), 200);
    }));

  for (const way of ["closes", "resets"] as const) {
    test(`leaves no file, descriptor or pending call when a client ${way} the connection anywhere in an upload`, () =>
      withDirectory(async (spoolDirectory) => {
        const service = uploadService({ ...UPLOAD_LIMITS, spoolDirectory });
        await withHost(scope, service, async (host) => {
          const body = multipart([
            fieldPart("name", "x"),
            filePart("imagedata", "a.png", "image/png", pseudoRandomBytes(3 * MIB)),
          ]);
          const head = uploadHead(mountPath, body.length);
          const part = body.indexOf("filename=");
          const good = await fetchReply(`${host.base}/`, { method: "POST", headers: HEADERS, body });
          assert.equal(good.status, 200);
          const { log } = service;
          await turn(20);
          const descriptors = await countDescriptors();
          const cuts: [string, number][] = [
            ["within the request's header", -20],
            ["after the request's header", 0],
            ["within the first boundary", 12],
            ["within the part's header", part + 4],
            ["at the first byte", body.indexOf("\r\n\r\n", part) + 5],
            ["within the first write", 100 * KIB],
            ["between writes", 2 * MIB + 17],
            ["within the last boundary", body.length - 20],
            ["before the last byte", body.length - 1],
          ];
          for (const [place, cut] of cuts) {
            const begun = log.started;
            const socket = await connectTo(host.origin);
            const closed = readToClose(socket);
            const bytes =
              cut < 0
                ? Buffer.from(head.slice(0, cut))
                : Buffer.concat([Buffer.from(head), body.subarray(0, cut)]);
            await new Promise((resolve) => socket.write(bytes, resolve));
            if (cut >= 0) await until(() => log.started > begun, `the upload cut ${place} begins`);
            await turn(5);
            if (way === "closes") socket.end();
            else socket.resetAndDestroy();
            await within(closed, "the connection to close");
            await until(() => log.settled === log.started, `the upload cut ${place} settles`);
            if (cut >= 0) {
              assert.equal(log.error, log.signal?.reason, place);
              assert.ok(log.error instanceof Error && log.error.name === "AbortError", place);
            }
            // Everything was gone when the promise settled, not some time later.
            assert.deepEqual(await readdir(spoolDirectory), [], place);
          }
          assert.equal(log.started, cuts.length);
          await until(async () => (await countDescriptors()) <= descriptors, "no descriptor is left open");
          assert.equal(host.lastError(), undefined);
          const after = await fetchReply(`${host.base}/`, { method: "POST", headers: HEADERS, body });
          assert.equal(after.status, 200);
        });
      }));
  }

  test("says that the disk failed, not that the client did, when the spool directory is missing", () =>
    withDirectory(async (directory) => {
      const service = uploadService({ ...UPLOAD_LIMITS, spoolDirectory: `${directory}/missing` });
      await withHost(scope, service, async (host) => {
        const body = multipart([filePart("imagedata", "a.png", "image/png", PNG)]);
        const reply = await fetchReply(`${host.base}/`, { method: "POST", headers: HEADERS, body });
        assert.equal(reply.status, 503);
        assert.equal(JSON.parse(reply.body.toString()).code, "store_unavailable");
      });
    }));

  test("closes the connection of a client whose body the service did not want", async () => {
    const refusing = replying(async () => json(403, { code: "forbidden" }));
    await withHost(scope, refusing, async (host) => {
      const refused = await insist(host.origin, mountPath);
      assert.equal(refused.status, 403);
      assert.equal(refused.connection, "close");
      // Also that of one that sends nothing more and does not go away.
      const socket = await connectTo(host.origin);
      const closed = readToClose(socket);
      socket.write(uploadHead(mountPath, 1000));
      assert.equal(statusOf(await within(closed, "the connection to close", 5000)), 403);
    });
  });

  test("reads on behind a refusal for a while, so that no reset overtakes it", async () => {
    const refusing = replying(async () => json(403, { code: "forbidden" }));
    await withHost(scope, refusing, async (host) => {
      const socket = await connectTo(host.origin);
      let trouble: Error | undefined;
      socket.on("error", (error) => {
        trouble = error;
      });
      const closed = readToClose(socket);
      const body = Buffer.alloc(4 * MIB);
      socket.write(uploadHead(mountPath, body.length));
      socket.write(body);
      assert.equal(statusOf(await within(closed, "the connection to close")), 403);
      assert.equal(trouble, undefined);
      assert.equal(socket.bytesWritten, uploadHead(mountPath, body.length).length + body.length);
    });
  });

  if (harness.parsing.includes("fields")) {
    test("receives the file although the host parses JSON and forms", () =>
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
    test("uses the file that a parser of the host's has received", () =>
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
    test("says at once that the host has eaten the upload", () =>
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

function checkReport(report: UploadReport, content: Buffer): void {
  const head = content.subarray(0, 64 * KIB);
  assert.equal(report.size, content.length, JSON.stringify(report));
  assert.equal(report.sha256, sha256(content));
  assert.equal(report.diskSha256, sha256(content));
  assert.equal(report.headLength, head.length);
  assert.equal(report.headSha256, sha256(head));
}

function uploadHead(mountPath: string, length: number, more = ""): string {
  return `POST ${mountPath}/ HTTP/1.1\r\nHost: a.example\r\nContent-Type: ${MULTIPART_TYPE}\r\nContent-Length: ${length}\r\n${more}\r\n`;
}

function writeChunk(socket: { write(data: string | Buffer): unknown }, bytes: Buffer): void {
  socket.write(`${bytes.length.toString(16)}\r\n`);
  socket.write(bytes);
  socket.write("\r\n");
}

interface Refusal {
  status: number;
  connection: string | undefined;
  text: string;
}

/** A client that announces 64 MiB and goes on sending whatever the server says. */
async function insist(origin: string, mountPath: string): Promise<Refusal> {
  const total = 64 * MIB;
  const socket = await connectTo(origin);
  const reply = readReply(socket);
  socket.write(uploadHead(mountPath, total));
  const block = Buffer.alloc(MIB);
  let sent = 0;
  const send = () => {
    while (sent < total && !socket.destroyed) {
      sent += block.length;
      if (!socket.write(block)) return;
    }
  };
  socket.on("drain", send);
  send();
  const text = await within(reply, "the refusal").finally(() => socket.destroy());
  return { status: statusOf(text), connection: /\r\nconnection: (\S+)/i.exec(text)?.[1], text };
}

/** The same through an ordinary HTTP client. */
function insistThroughHttp(url: string): Promise<Refusal> {
  const total = 64 * MIB;
  const exchange = new Promise<Refusal>((resolve, reject) => {
    const req = httpRequest(url, {
      method: "POST",
      agent: false,
      headers: { "Content-Type": MULTIPART_TYPE, "Content-Length": String(total) },
    });
    let isAnswered = false;
    req.once("response", (res) => {
      isAnswered = true;
      const chunks: Buffer[] = [];
      res.on("data", (chunk) => chunks.push(chunk));
      res.once("error", reject);
      res.once("end", () => {
        resolve({
          status: res.statusCode ?? 0,
          connection: res.headers.connection,
          text: Buffer.concat(chunks).toString(),
        });
        req.destroy();
      });
    });
    req.on("error", (error) => {
      // Once there is a reply, that the server reads no more is what is wanted.
      if (!isAnswered) reject(error);
    });
    const block = Buffer.alloc(MIB);
    let sent = 0;
    const send = () => {
      while (sent < total && !req.destroyed) {
        sent += block.length;
        if (!req.write(block)) return;
      }
    };
    req.on("drain", send);
    send();
  });
  return within(exchange, "the refusal");
}
