import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { ServiceError, type UploadSlot } from "@outrigger/core";
import { connectTo, fetchReply, jsonOf, readReply, statusOf, turn, until, within } from "./http-client.ts";
import { filePart, multipart, pseudoRandomBytes } from "./multipart.ts";
import { assertCloses, type Scope, withDirectory, withHost } from "./scope.ts";
import { UPLOAD_LIMITS, type UploadReport, uploadService } from "./services.ts";
import { checkReport, HEADERS, KIB, MIB, uploadHead } from "./upload-requests.ts";

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
  const body = multipart([filePart("imagedata", "a.png", "image/png", content)]);

  test("an upload is read only after it gets a slot, and then completely", () =>
    withDirectory(async (spoolDirectory) => {
      const { slot: own, state } = createSlot();
      const service = uploadService({ ...UPLOAD_LIMITS, spoolDirectory, slot: own });
      await withHost(scope, service, async ({ base }) => {
        const reply = fetchReply(`${base}/`, { method: "POST", headers: HEADERS, body });
        await until(() => state.waiting === 1, "the upload waits");
        await turn(50);
        assert.deepEqual(await readdir(spoolDirectory), []);
        assert.equal(service.log.settled, 0);
        state.begin();
        const { status, body: report } = await reply;
        assert.equal(status, 200);
        checkReport(JSON.parse(report.toString()) as UploadReport, content);
      });
    }));

  test("an upload pauses when its slot is used up, and continues with the next one", () =>
    withDirectory(async (spoolDirectory) => {
      const { slot: own, state } = createSlot();
      const service = uploadService({ ...UPLOAD_LIMITS, spoolDirectory, slot: own });
      await withHost(scope, service, async ({ base }) => {
        state.mayReadBytes = 300 * KIB;
        const reply = fetchReply(`${base}/`, { method: "POST", headers: HEADERS, body });
        await until(() => state.waiting === 1, "the upload waits for its first slot");
        state.begin();
        await until(() => state.waiting === 1, "the upload waits for its second slot");
        await turn(50);
        assert.ok(state.bytes < MIB, `${state.bytes} bytes were read`);
        assert.equal(service.log.settled, 0);
        state.mayReadBytes = Number.POSITIVE_INFINITY;
        state.begin();
        const { status, body: report } = await reply;
        assert.equal(status, 200);
        checkReport(JSON.parse(report.toString()) as UploadReport, content);
      });
    }));

  test("an upload rejected by its head is answered at once, without a slot", () => {
    const { slot: own, state } = createSlot();
    return withHost(scope, uploadService({ ...UPLOAD_LIMITS, slot: own }), async (host) => {
      const isText = { "Content-Type": "text/plain" };
      const wrong = await fetchReply(`${host.base}/`, { method: "POST", headers: isText, body: "x" });
      assert.equal(wrong.status, 415);
      const socket = await connectTo(host.origin);
      const reply = readReply(socket);
      socket.write(uploadHead(mountPath, 100 * MIB));
      assert.equal(statusOf(await within(reply, "the refusal")), 413);
      socket.destroy();
      assert.equal(state.waiting, 0);
    });
  });

  test("an upload that gets no slot is answered with overloaded", () =>
    withDirectory(async (spoolDirectory) => {
      const { slot: own, state } = createSlot();
      const service = uploadService({ ...UPLOAD_LIMITS, spoolDirectory, slot: own });
      await withHost(scope, service, async (host) => {
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
          assert.equal(statusOf(raw), 503, raw);
          assertCloses(scope, raw);
          assert.equal((jsonOf(raw) as { code: string }).code, "overloaded");
          assert.deepEqual(await readdir(spoolDirectory), []);
        }
      });
    }));

  test("an upload whose client disconnects before it has a slot settles", () => {
    const { slot: own, state } = createSlot();
    const service = uploadService({ ...UPLOAD_LIMITS, slot: own });
    return withHost(scope, service, async (host) => {
      const socket = await connectTo(host.origin);
      socket.write(uploadHead(mountPath, body.length));
      await until(() => state.waiting === 1, "the upload waits");
      socket.resetAndDestroy();
      await until(() => service.log.settled === 1, "the upload settles");
      assert.equal(state.waiting, 0);
      assert.equal(service.log.error, service.log.signal?.reason);
      assert.equal(host.lastError(), undefined);
    });
  });
}
