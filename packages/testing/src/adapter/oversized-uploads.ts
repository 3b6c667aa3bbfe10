import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { assertRecognised } from "../foreign-copy.ts";
import { connectTo, fetchReply, jsonOf, readReply, readToClose, statusOf, within } from "./http-client.ts";
import { BOUNDARY, filePart, MULTIPART_TYPE, multipart } from "./multipart.ts";
import { assertCloses, type Scope, withDirectory, withHost } from "./scope.ts";
import { json, replying, service, UPLOAD_LIMITS, uploadService } from "./services.ts";
import { HEADERS, KIB, MIB, PNG, uploadHead, writeChunk } from "./upload-requests.ts";

/** Uploads that exceed a limit or are not accepted get a reply at once, and the client receives it. */
export function oversizedUploadsBehaviour(scope: Scope): void {
  const { test, wireTest, hasWire, mountPath } = scope;

  test("ten clients that keep sending 64 MiB all receive 413 too_large before the connection closes", () =>
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
        if (hasWire) assert.ok(replies.every(({ connection }) => connection === "close"));
        assert.deepEqual(await readdir(spoolDirectory), []);
      });
    }));

  test("an upload without Content-Length is rejected at the limit, without reading the rest", () =>
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
        // The body never ends; the reply must come anyway.
        for (let sent = 0; sent <= MIB; sent += 64 * KIB) writeChunk(socket, PNG.subarray(0, 64 * KIB));
        const raw = await within(reply, "the refusal", 5000);
        socket.destroy();
        assert.equal(statusOf(raw), 413);
        assertCloses(scope, raw);
        assert.equal((jsonOf(raw) as { code: string }).code, "too_large");
        assert.deepEqual(await readdir(spoolDirectory), []);
      });
    }));

  test("upload() accepts a file of exactly maxFileBytes and rejects one byte more", () =>
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

  test("an upload over the limit rejects with an error that another copy of core recognises", async () => {
    const limits = { ...UPLOAD_LIMITS, maxFileBytes: 1000 };
    const recognising = service(async (call) => {
      await assertRecognised(() => call.upload(limits), "too_large");
      return json(413, {});
    });
    await withHost(scope, recognising, async (host) => {
      const body = multipart([filePart("imagedata", "a.png", "image/png", PNG)]);
      const reply = await fetchReply(`${host.base}/`, { method: "POST", headers: HEADERS, body });
      assert.equal(reply.status, 413, String(host.lastError()));
    });
  });

  wireTest("the server closes the connection of a client whose body the service did not read", async () => {
    const refusing = replying(async () => json(403, { code: "forbidden" }));
    await withHost(scope, refusing, async (host) => {
      const refused = await insist(host.origin, mountPath);
      assert.equal(refused.status, 403);
      assert.equal(refused.connection, "close");
      // It also closes a connection on which the client sends nothing more and stays connected.
      const socket = await connectTo(host.origin);
      const closed = readToClose(socket);
      socket.write(uploadHead(mountPath, 1000));
      assert.equal(statusOf(await within(closed, "the connection to close", 5000)), 403);
    });
  });

  test("the server reads on for a while after an early reply, so that no reset overtakes it", async () => {
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
}

interface Refusal {
  status: number;
  connection: string | undefined;
  text: string;
}

/** A client that announces 64 MiB and keeps sending, whatever the server replies. */
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

/** The same with an ordinary HTTP client. */
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
      // After a reply, a write error is expected: the server stops reading.
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
