import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { ServiceError, type UploadTurn } from "@outrigger/core";
import { connectTo, fetchReply, jsonOf, readReply, statusOf, turn, until, within } from "./http-client.ts";
import { filePart, multipart, pseudoRandomBytes } from "./multipart.ts";
import { assertCloses, type Scope, withDirectory, withHost } from "./scope.ts";
import { UPLOAD_LIMITS, type UploadReport, uploadService } from "./services.ts";
import { checkReport, HEADERS, KIB, MIB, uploadHead } from "./upload-requests.ts";

/** Turns that the test starts and ends. */
function createTurns() {
  const state = {
    /** Number of uploads that wait now. */
    waiting: 0,
    /** The turn ends after this many bytes. */
    mayReadBytes: Number.POSITIVE_INFINITY,
    bytes: 0,
    begin: () => {},
    refuse: (_error: unknown) => {},
  };
  const turn: UploadTurn = {
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
  return { turn, state };
}

/** Uploads that are read only during their turn. */
export function uploadTurnsBehaviour(scope: Scope): void {
  const { test, mountPath } = scope;
  const content = pseudoRandomBytes(3 * MIB);
  const body = multipart([filePart("imagedata", "a.png", "image/png", content)]);

  test("an upload is read only after its turn begins, and then completely", () =>
    withDirectory(async (spoolDirectory) => {
      const { turn: own, state } = createTurns();
      const service = uploadService({ ...UPLOAD_LIMITS, spoolDirectory, turn: own });
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

  test("an upload pauses when its turn ends, and continues with the next turn", () =>
    withDirectory(async (spoolDirectory) => {
      const { turn: own, state } = createTurns();
      const service = uploadService({ ...UPLOAD_LIMITS, spoolDirectory, turn: own });
      await withHost(scope, service, async ({ base }) => {
        state.mayReadBytes = 300 * KIB;
        const reply = fetchReply(`${base}/`, { method: "POST", headers: HEADERS, body });
        await until(() => state.waiting === 1, "the upload waits for its first turn");
        state.begin();
        await until(() => state.waiting === 1, "the upload waits for its second turn");
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

  test("an upload rejected by its head is answered at once, without a turn", () => {
    const { turn: own, state } = createTurns();
    return withHost(scope, uploadService({ ...UPLOAD_LIMITS, turn: own }), async (host) => {
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

  test("an upload whose turn does not come is answered with overloaded", () =>
    withDirectory(async (spoolDirectory) => {
      const { turn: own, state } = createTurns();
      const service = uploadService({ ...UPLOAD_LIMITS, spoolDirectory, turn: own });
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

  test("an upload whose client disconnects before its turn settles", () => {
    const { turn: own, state } = createTurns();
    const service = uploadService({ ...UPLOAD_LIMITS, turn: own });
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
