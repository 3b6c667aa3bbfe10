import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import { ServiceError } from "@outrigger/core";
import { assertRefusal, connectTo, jsonBody, pause, post, readReply, statusOf } from "./http-client.ts";
import { consumedBodyTest, type Scope, withHost } from "./scope.ts";
import { json, replying } from "./services.ts";

const LIMITS = { maxBytes: 4_000_000, idleMs: 5000, minBytesPerSecond: 1 };
const TYPE = { "Content-Type": "application/offset+octet-stream" };

/** Answers with the hash of the bytes. One piece at a time is taken. */
const hashBytes = replying(async (call) => {
  const hash = createHash("sha256");
  let isTaking = false;
  await call.bytes(LIMITS, async (piece) => {
    assert.equal(isTaking, false);
    isTaking = true;
    await new Promise((resolve) => setImmediate(resolve));
    hash.update(piece);
    isTaking = false;
  });
  return json(200, { sha256: hash.digest("hex") });
});

/** Rejects at the first piece. */
const refuse = replying(async (call) => {
  await call.bytes(LIMITS, async () => {
    throw new ServiceError("bad_request", "no");
  });
  return json(200, {});
});

/** `Call.bytes`. */
export function bytesBehaviour(scope: Scope): void {
  const { test, mountPath } = scope;

  test("bytes() passes the body of any media type in pieces, one at a time", () =>
    withHost(scope, hashBytes, async (host) => {
      const bytes = randomBytes(3_000_000);
      const sha256 = createHash("sha256").update(bytes).digest("hex");
      for (const headers of [TYPE, { "Content-Type": "image/png" }]) {
        assert.deepEqual(jsonBody(await post(host.base, headers, bytes)), { sha256 });
      }
      const pieces = [bytes.subarray(0, 1), bytes.subarray(1)];
      assert.deepEqual(jsonBody(await post(host.base, TYPE, pieces)), { sha256 });
    }));

  test("bytes() rejects a Content-Encoding and a body over maxBytes", () =>
    withHost(scope, hashBytes, async (host) => {
      const encoded = { ...TYPE, "Content-Encoding": "gzip" };
      assertRefusal(await post(host.base, encoded, gzipSync("a")), 415, "unsupported_media");
      const large = Buffer.alloc(LIMITS.maxBytes + 1);
      assertRefusal(await post(host.base, TYPE, large), 413, "too_large");
    }));

  test("bytes() rejects as soon as a piece is rejected", () =>
    withHost(scope, refuse, async (host) => {
      // The body never ends.
      const socket = await connectTo(host.origin);
      socket.write(`POST ${mountPath}/ HTTP/1.1\r\nHost: a.example\r\nContent-Length: 1000000\r\n\r\n`);
      await pause(20);
      socket.write("x");
      assert.equal(statusOf(await readReply(socket)), 400);
      socket.destroy();
    }));

  consumedBodyTest(scope, "bytes()", hashBytes, TYPE, "bytes");
}
