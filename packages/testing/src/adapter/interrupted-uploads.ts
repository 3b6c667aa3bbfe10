import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { isError } from "@outrigger/core/values";
import { connectTo, exchange, pause, post, readToClose, statusOf, until, within } from "./http-client.ts";
import { fieldPart, filePart, multipart, pseudoRandomBytes } from "./multipart.ts";
import { assertRawRefusal, countDescriptors, type Scope } from "./scope.ts";
import { HEADERS, KIB, MIB, oneFile, uploadHead, withUploads } from "./upload-requests.ts";

/** Uploads that stop half-way leave nothing behind. */
export function interruptedUploadsBehaviour(scope: Scope): void {
  const { test, mountPath } = scope;

  test("an upload that stops is rejected with timeout, and its spooled file is deleted", () =>
    withUploads(scope, { idleMs: 50 }, async (host) => {
      const body = oneFile();
      for (const cut of [0, 10, 150, 5000, body.length - 1]) {
        const raw = await exchange(
          host.origin,
          [uploadHead(mountPath, body.length), body.subarray(0, cut)],
          "the timeout",
        );
        assertRawRefusal(scope, raw, 408, "timeout");
      }
    }));

  test("a slow upload that keeps sending is received", () =>
    withUploads(scope, { idleMs: 2000 }, async (host) => {
      const body = oneFile();
      const socket = await connectTo(host.origin);
      const reply = readToClose(socket);
      socket.write(uploadHead(mountPath, body.length, "Connection: close\r\n"));
      const step = Math.ceil(body.length / 12);
      for (let start = 0; start < body.length; start += step) {
        socket.write(body.subarray(start, start + step));
        await pause(200);
      }
      assert.equal(statusOf(await within(reply, "the reply")), 200);
    }));

  for (const way of ["closes", "resets"] as const) {
    test(`an upload leaves no file, descriptor or pending call when its client ${way} the connection at any point`, () =>
      withUploads(scope, {}, async (host) => {
        const body = multipart([
          fieldPart("name", "x"),
          filePart("imagedata", "a.png", "image/png", pseudoRandomBytes(3 * MIB)),
        ]);
        const head = uploadHead(mountPath, body.length);
        const part = body.indexOf("filename=");
        const good = await post(host.base, HEADERS, body);
        assert.equal(good.status, 200);
        const { log } = host;
        await pause(20);
        const descriptors = await countDescriptors();
        const cuts: [string, number][] = [
          ["within the request header", -20],
          ["after the request header", 0],
          ["within the first boundary", 12],
          ["within the part header", part + 4],
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
          await pause(5);
          if (way === "closes") socket.end();
          else socket.resetAndDestroy();
          await within(closed, "the connection to close");
          await until(() => log.settled === log.started, `the upload cut ${place} settles`);
          if (cut >= 0) {
            assert.equal(log.error, log.signal?.reason, place);
            assert.ok(isError(log.error) && log.error.name === "AbortError", place);
          }
          // The file must be gone when the promise settles, not some time later.
          assert.deepEqual(await readdir(host.spoolDirectory), [], place);
        }
        assert.equal(log.started, cuts.length);
        await until(async () => (await countDescriptors()) <= descriptors, "all descriptors are closed");
        assert.equal(host.lastError(), undefined);
        const after = await post(host.base, HEADERS, body);
        assert.equal(after.status, 200);
      }));
  }
}
