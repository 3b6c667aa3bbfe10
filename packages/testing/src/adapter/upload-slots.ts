import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { ServiceError, type UploadSlot } from "@outrigger/core";
import { connectTo, exchange, pause, post, readReply, statusOf, until, within } from "./http-client.ts";
import { pseudoRandomBytes } from "./multipart.ts";
import { assertRawRefusal, type Scope } from "./scope.ts";
import { checkReport, HEADERS, KIB, MIB, oneFile, uploadHead, withUploads } from "./upload-requests.ts";

/** A slot that the test gives and takes. */
function createSlot() {
  const state = {
    /** Number of uploads that wait now. */
    waiting: 0,
    /** The slot is used up after this many bytes. */
    mayReadBytes: Number.POSITIVE_INFINITY,
    bytes: 0,
    begin: () => {},
    refuse: (_error: unknown) => {},
  };
  const slot: UploadSlot = {
    wait: (signal) =>
      new Promise<void>((resolve, reject) => {
        state.waiting++;
        const settle = () => state.waiting--;
        state.begin = () => {
          settle();
          resolve();
        };
        state.refuse = (error) => {
          settle();
          reject(error);
        };
        signal.addEventListener("abort", () => state.refuse(signal.reason));
      }),
    mayRead(bytes) {
      if (state.bytes >= state.mayReadBytes) return false;
      state.bytes += bytes;
      return true;
    },
    end() {},
  };
  return { slot, state };
}

/** Uploads that are read only while they have a slot. */
export function uploadSlotsBehaviour(scope: Scope): void {
  const { test, mountPath } = scope;
  const content = pseudoRandomBytes(3 * MIB);
  const body = oneFile(content);

  test("an upload is read only after it gets a slot, and then completely", () => {
    const { slot, state } = createSlot();
    return withUploads(scope, { slot }, async (host) => {
      const reply = post(host.base, HEADERS, body);
      await until(() => state.waiting === 1, "the upload waits");
      await pause(50);
      assert.deepEqual(await readdir(host.spoolDirectory), []);
      assert.equal(host.log.settled, 0);
      state.begin();
      checkReport(await reply, content);
    });
  });

  test("an upload pauses when its slot is used up, and continues with the next one", () => {
    const { slot, state } = createSlot();
    return withUploads(scope, { slot }, async (host) => {
      state.mayReadBytes = 300 * KIB;
      const reply = post(host.base, HEADERS, body);
      await until(() => state.waiting === 1, "the upload waits for its first slot");
      state.begin();
      await until(() => state.waiting === 1, "the upload waits for its second slot");
      await pause(50);
      assert.ok(state.bytes < MIB, `${state.bytes} bytes were read`);
      assert.equal(host.log.settled, 0);
      state.mayReadBytes = Number.POSITIVE_INFINITY;
      state.begin();
      checkReport(await reply, content);
    });
  });

  test("an upload rejected by its head is answered at once, without a slot", () => {
    const { slot, state } = createSlot();
    return withUploads(scope, { slot }, async (host) => {
      assert.equal((await post(host.base, { "Content-Type": "text/plain" }, "x")).status, 415);
      const raw = await exchange(host.origin, [uploadHead(mountPath, 100 * MIB)], "the refusal");
      assert.equal(statusOf(raw), 413);
      assert.equal(state.waiting, 0);
    });
  });

  test("an upload that gets no slot is answered with overloaded", () => {
    const { slot, state } = createSlot();
    return withUploads(scope, { slot }, async (host) => {
      for (const isBegun of [false, true]) {
        state.mayReadBytes = 300 * KIB;
        state.bytes = 0;
        const socket = await connectTo(host.origin);
        const reply = readReply(socket);
        socket.write(uploadHead(mountPath, body.length));
        socket.write(body);
        await until(() => state.waiting === 1, "the upload waits");
        if (isBegun) {
          state.begin();
          await until(() => state.waiting === 1, "the upload waits again");
        }
        state.refuse(new ServiceError("overloaded", "Too many", { retryAfterMs: 1000 }));
        const raw = await within(reply, "the refusal");
        socket.destroy();
        assertRawRefusal(scope, raw, 503, "overloaded");
        assert.deepEqual(await readdir(host.spoolDirectory), []);
      }
    });
  });

  test("an upload whose client disconnects before it has a slot settles", () => {
    const { slot, state } = createSlot();
    return withUploads(scope, { slot }, async (host) => {
      const socket = await connectTo(host.origin);
      socket.write(uploadHead(mountPath, body.length));
      await until(() => state.waiting === 1, "the upload waits");
      socket.resetAndDestroy();
      await until(() => host.log.settled === 1, "the upload settles");
      assert.equal(state.waiting, 0);
      assert.equal(host.log.error, host.log.signal?.reason);
      assert.equal(host.lastError(), undefined);
    });
  });
}
