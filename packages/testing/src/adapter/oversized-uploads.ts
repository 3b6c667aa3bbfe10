import assert from "node:assert/strict";
import { request as httpRequest } from "node:http";
import type { Writable } from "node:stream";
import { assertRecognised } from "../foreign-copy.ts";
import { connectTo, post, readReply, readToClose, statusOf, within } from "./http-client.ts";
import { BOUNDARY, MULTIPART_TYPE } from "./multipart.ts";
import { assertRawRefusal, type Scope, withHost } from "./scope.ts";
import { json, replying, service, UPLOAD_LIMITS } from "./services.ts";
import { HEADERS, KIB, MIB, oneFile, PNG, uploadHead, withUploads, writeChunk } from "./upload-requests.ts";

/** Uploads that exceed a limit or are not accepted get a reply at once, and the client receives it. */
export function oversizedUploadsBehaviour(scope: Scope): void {
  const { test, wireTest, hasWire, mountPath } = scope;

  test("ten clients that keep sending 64 MiB all receive 413 too_large before the connection closes", () =>
    withUploads(scope, {}, async (host) => {
      const clients = [...Array(10).keys()].map((index) =>
        index % 2 === 0 ? insist(host.origin, mountPath) : insistThroughHttp(`${host.base}/`),
      );
      for (const { status, connection, text } of await Promise.all(clients)) {
        assert.equal(status, 413);
        assert.match(text, /"code":"too_large"/);
        if (hasWire) assert.equal(connection, "close");
      }
    }));

  test("an upload without Content-Length is rejected at the limit, without reading the rest", () =>
    withUploads(scope, { maxFileBytes: MIB }, async (host) => {
      const socket = await connectTo(host.origin);
      const reply = readReply(socket);
      socket.write(
        `POST ${mountPath}/ HTTP/1.1\r\nHost: a.example\r\nContent-Type: ${MULTIPART_TYPE}\r\nTransfer-Encoding: chunked\r\n\r\n`,
      );
      const start = oneFile("");
      writeChunk(socket, start.subarray(0, start.length - `\r\n--${BOUNDARY}--\r\n`.length));
      // The body never ends; the reply must come anyway.
      for (let sent = 0; sent <= MIB; sent += 64 * KIB) writeChunk(socket, PNG.subarray(0, 64 * KIB));
      const raw = await within(reply, "the refusal");
      socket.destroy();
      assertRawRefusal(scope, raw, 413, "too_large");
    }));

  test("upload() accepts a file of exactly maxFileBytes and rejects one byte more", () =>
    withUploads(scope, { maxFileBytes: 100_000 }, async (host) => {
      for (const [size, status] of [
        [100_000, 200],
        [100_001, 413],
      ] as const) {
        const body = oneFile(PNG.subarray(0, size));
        for (const sent of [body, [body.subarray(0, 5000), body.subarray(5000)]]) {
          const reply = await post(host.base, HEADERS, sent);
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
      const reply = await post(host.base, HEADERS, oneFile());
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
      assert.equal(statusOf(await within(closed, "the connection to close")), 403);
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

const ANNOUNCED_BYTES = 64 * MIB;

function keepSending(stream: Writable): void {
  const block = Buffer.alloc(MIB);
  let sent = 0;
  const send = () => {
    while (sent < ANNOUNCED_BYTES && !stream.destroyed) {
      sent += block.length;
      if (!stream.write(block)) return;
    }
  };
  stream.on("drain", send);
  send();
}

/** A client that announces 64 MiB and keeps sending, whatever the server replies. */
async function insist(origin: string, mountPath: string): Promise<Refusal> {
  const socket = await connectTo(origin);
  const reply = readReply(socket);
  socket.write(uploadHead(mountPath, ANNOUNCED_BYTES));
  keepSending(socket);
  const text = await within(reply, "the refusal").finally(() => socket.destroy());
  return { status: statusOf(text), connection: /\r\nconnection: (\S+)/i.exec(text)?.[1], text };
}

/** The same with an ordinary HTTP client. */
function insistThroughHttp(url: string): Promise<Refusal> {
  const refusal = new Promise<Refusal>((resolve, reject) => {
    const req = httpRequest(url, {
      method: "POST",
      agent: false,
      headers: { "Content-Type": MULTIPART_TYPE, "Content-Length": String(ANNOUNCED_BYTES) },
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
    keepSending(req);
  });
  return within(refusal, "the refusal");
}
