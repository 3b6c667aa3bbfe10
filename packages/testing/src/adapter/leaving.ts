import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { isError } from "@outrigger/core/values";
import { connectTo, fetchReply, openReply, readToClose, until, within } from "./http-client.ts";
import { getRequest, requestOn, type Scope, withHost } from "./scope.ts";
import { service } from "./services.ts";

const MIB = 1024 * 1024;

export function leavingBehaviour(scope: Scope): void {
  const { test, wireTest, mountPath } = scope;

  for (const way of ["closes", "resets"] as const) {
    test(`call.signal aborts when the client ${way} the connection before the reply`, async () => {
      const { promise: waiting, resolve: started } = deferred();
      let outcome: unknown = "pending";
      const patient = service(async (call) => {
        const { signal } = call;
        assert.equal(signal.aborted, false);
        started();
        await aborted(signal);
        outcome = signal.reason;
        throw signal.reason;
      });
      await withHost(scope, patient, async (host) => {
        const socket = await requestOn(host, `${mountPath}/`);
        await within(waiting, "the call to begin");
        if (way === "closes") socket.destroy();
        else socket.resetAndDestroy();
        await until(() => outcome !== "pending", "the signal aborts");
        assert.ok(isError(outcome));
        assert.equal(outcome.name, "AbortError");
        assert.equal(host.lastError(), undefined, "a client that disconnects is no failure of the host");
      });
    });
  }

  test("a service that reads the body after the client has disconnected gets an aborted signal", async () => {
    const { promise: begun, resolve: started } = deferred();
    const { promise: gone, resolve: left } = deferred();
    const outcomes: unknown[] = [];
    const late = service(async (call) => {
      if (call.path === "/ping") return { status: 204, headers: {} };
      started();
      await gone;
      await call.fields({ maxBytes: 100, idleMs: 5000 }).catch((error) => outcomes.push(error));
      outcomes.push(call.signal.reason);
      return { status: 204, headers: {} };
    });
    await withHost(scope, late, async (host) => {
      const socket = await connectTo(host.origin);
      const head = "Host: a.example\r\nContent-Type: application/json\r\nContent-Length: 50";
      socket.write(`POST ${mountPath}/ HTTP/1.1\r\n${head}\r\n\r\n`);
      await within(begun, "the call to begin");
      socket.resetAndDestroy();
      // The server handles events in order of arrival: once it answers later requests, it has seen the
      // disconnect.
      for (let round = 0; round < 3; round++) await fetchReply(`${host.base}/ping`);
      left();
      await until(() => outcomes.length === 2, "the call ends");
      assert.ok(isError(outcomes[0]) && outcomes[0].name === "AbortError");
      assert.equal(outcomes[0], outcomes[1]);
    });
  });

  test("call.signal never aborts after a complete reply", async () => {
    const signals: AbortSignal[] = [];
    const size = 8 * MIB;
    const serving = service(async (call) => {
      signals.push(call.signal);
      if (call.path === "/none") return { status: 204, headers: {} };
      const body = Buffer.alloc(size, 1);
      return {
        status: 200,
        headers: { "Content-Type": "image/png", "Content-Length": String(size) },
        body: call.path === "/buffer" ? body : inPieces(body),
      };
    });
    await withHost(scope, serving, async (host) => {
      for (const path of ["/buffer", "/stream", "/none"]) {
        const reply = await fetchReply(host.base + path);
        assert.equal(reply.body.length, path === "/none" ? 0 : size);
        // A client that disconnects as soon as it has the last byte.
        const res = await openReply(host.base + path);
        let received = 0;
        for await (const chunk of res) {
          received += chunk.length;
          if (received === size) res.socket.resetAndDestroy();
        }
      }
    });
    assert.equal(signals.length, 6);
    assert.deepEqual(
      signals.map((signal) => signal.aborted),
      signals.map(() => false),
    );
  });

  test("the source of a download is closed when its client disconnects", async () => {
    const sources: Readable[] = [];
    const signals: AbortSignal[] = [];
    const serving = service(async (call) => {
      signals.push(call.signal);
      const source = inPieces(Buffer.alloc(8 * MIB));
      sources.push(source);
      return {
        status: 200,
        headers: { "Content-Type": "image/png", "Content-Length": String(8 * MIB) },
        body: source,
      };
    });
    await withHost(scope, serving, async (host) => {
      for (let round = 0; round < 10; round++) {
        const res = await openReply(`${host.base}/`);
        await new Promise((resolve) => res.once("data", resolve));
        if (round % 2 === 0) res.socket.resetAndDestroy();
        else res.destroy();
      }
      await until(
        () => sources.length === 10 && sources.every((source) => source.closed),
        "every source is closed",
      );
      assert.ok(signals.every((signal) => !signal.aborted));
    });
  });

  wireTest(
    "pipelined calls are aborted, and their sources closed, when their client disconnects",
    async () => {
      const sources: Readable[] = [];
      const reasons: unknown[] = [];
      let waiting = 0;
      const serving = service(async ({ path, signal }) => {
        if (path === "/wait" || path === "/late") {
          waiting++;
          await aborted(signal);
          reasons.push(signal.reason);
          if (path === "/wait") throw signal.reason;
        }
        const source = inPieces(Buffer.alloc(8 * MIB));
        sources.push(source);
        return {
          status: 200,
          headers: { "Content-Type": "image/png", "Content-Length": String(8 * MIB) },
          body: source,
        };
      });
      await withHost(scope, serving, async (host) => {
        const socket = await connectTo(host.origin);
        // Many more than the listeners per connection after which Node warns of a leak.
        const paths = ["/", "/", "/wait", "/late", ...Array.from({ length: 20 }, () => "/")];
        socket.write(paths.map((path) => getRequest(mountPath + path)).join(""));
        await until(() => sources.length + waiting === paths.length, "every call has begun");
        socket.resetAndDestroy();
        await until(() => reasons.length === 2, "the waiting calls were aborted");
        await until(() => sources.length === paths.length - 1, "the late reply is there");
        await until(() => sources.every((source) => source.closed), "every source is closed");
        for (const reason of reasons) assert.ok(isError(reason) && reason.name === "AbortError");
        assert.equal(host.lastError(), undefined);
      });
    },
  );

  test("the stream of a reply to a disconnected client is destroyed", async () => {
    const { promise: begun, resolve: started } = deferred();
    const source = Readable.from([Buffer.alloc(10)], { objectMode: false });
    const late = service(async (call) => {
      const { signal } = call;
      started();
      await aborted(signal);
      return { status: 200, headers: { "Content-Type": "image/png" }, body: source };
    });
    await withHost(scope, late, async (host) => {
      const socket = await requestOn(host, `${mountPath}/`);
      await within(begun, "the call to begin");
      socket.destroy();
      await until(() => source.closed, "the stream is closed");
    });
  });

  test("the server still answers after clients have disconnected in every way", async () => {
    const serving = service(async (call) => {
      if (call.path === "/wait") await aborted(call.signal);
      return { status: 200, headers: { "Content-Type": "text/plain" }, body: "fine" };
    });
    await withHost(scope, serving, async (host) => {
      for (let round = 0; round < 20; round++) {
        const socket = await requestOn(host, `${mountPath}/wait`);
        const closed = readToClose(socket);
        if (round % 3 === 0) socket.end();
        else if (round % 3 === 1) socket.destroy();
        else socket.resetAndDestroy();
        await within(closed, "the connection to close");
      }
      assert.equal((await fetchReply(`${host.base}/`)).body.toString(), "fine");
    });
  });
}

/** Streams a Buffer in pieces of 64 KiB. */
function inPieces(bytes: Buffer): Readable {
  const starts = Array.from({ length: Math.ceil(bytes.length / 65536) }, (_, index) => index * 65536);
  return Readable.from(
    starts.map((start) => bytes.subarray(start, start + 65536)),
    { objectMode: false },
  );
}

function aborted(signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve) => signal.addEventListener("abort", resolve));
}

function deferred() {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
