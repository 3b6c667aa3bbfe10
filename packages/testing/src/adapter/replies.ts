import assert from "node:assert/strict";
import { Agent } from "node:http";
import { Readable } from "node:stream";
import type { Reply, Service } from "@outrigger/core";
import { foreignError } from "../foreign-copy.ts";
import {
  type ClientReply,
  fetchReply,
  jsonBody,
  openReply,
  pause,
  sendRaw,
  until,
  within,
} from "./http-client.ts";
import { pseudoRandomBytes } from "./multipart.ts";
import { getRequest, type Scope, withHost } from "./scope.ts";
import { json, service } from "./services.ts";

const MIB = 1024 * 1024;

export function repliesBehaviour(scope: Scope): void {
  const { test, hasWire } = scope;
  const picture = pseudoRandomBytes(20 * 1024);

  test("a reply body given as Buffer, Uint8Array, string or stream is sent byte for byte with its own type and length", async () => {
    const text = "<p>Grüße</p>";
    const stream = (...chunks: Buffer[]) => Readable.from(chunks, { objectMode: false });
    const view = new Uint8Array(picture.buffer, picture.byteOffset + 7, 1000);
    const bodies: Record<string, [make: () => NonNullable<Reply["body"]>, expected: Buffer]> = {
      "/buffer": [() => picture, picture],
      "/view": [() => view, picture.subarray(7, 1007)],
      "/string": [() => text, Buffer.from(text)],
      "/stream": [() => stream(picture.subarray(0, 9), picture.subarray(9)), picture],
      "/unmeasured": [() => stream(picture), picture],
    };
    const serving = service(async ({ path }) => {
      const [make, expected] = bodies[path] ?? assert.fail(path);
      const length = { "Content-Length": String(expected.length) };
      return {
        status: 200,
        headers: { "content-type": "image/x-test", ...(path === "/unmeasured" ? {} : length) },
        body: make(),
      };
    });
    await withHost(scope, serving, async (host) => {
      for (const [path, [, expected]] of Object.entries(bodies)) {
        const { status, headers, body } = await fetchReply(host.base + path);
        const length = path === "/unmeasured" ? undefined : String(expected.length);
        assert.deepEqual(
          [status, headers["content-type"], headers["content-length"], body],
          [200, "image/x-test", length, expected],
          path,
        );
      }
    });
  });

  test("a reply without Content-Type gets none", async () => {
    const serving = service(async (call) => ({
      status: 200,
      headers: { "Content-Length": "4" },
      body: call.path === "/text" ? "text" : Buffer.from("data"),
    }));
    await withHost(scope, serving, async (host) => {
      for (const path of ["/text", "/data"]) {
        const reply = await fetchReply(host.base + path);
        assert.equal(reply.headers["content-type"], undefined);
        assert.equal(reply.body.length, 4);
      }
    });
  });

  test("a header with a list of values is sent as repeated lines, or with its values joined by a host of web requests", async () => {
    const serving = service(async () => ({
      status: 200,
      headers: { Link: ["</a>; rel=a", "</b>; rel=b"], "X-One": "1", "Content-Length": "2" },
      body: "ok",
    }));
    await withHost(scope, serving, async (host) => {
      const { rawHeaders } = await fetchReply(`${host.base}/`);
      const links = rawHeaders.filter((_, index) => rawHeaders[index - 1]?.toLowerCase() === "link");
      const sent = ["</a>; rel=a", "</b>; rel=b"];
      assert.deepEqual(links, hasWire ? sent : [sent.join(", ")]);
    });
  });

  test("every status is sent unchanged, with and without a body", async () => {
    const serving = service(async (call) => {
      const [, status, kind] = call.path.split("/");
      return kind === "json"
        ? json(Number(status), { status })
        : { status: Number(status), headers: { "X-Kept": "yes" } };
    });
    await withHost(scope, serving, async (host) => {
      for (const status of [200, 201, 202, 204, 303, 304, 403, 404, 410, 412, 416, 451, 500, 503]) {
        const bare = await fetchReply(`${host.base}/${status}/none`);
        assert.equal(bare.status, status);
        assert.equal(bare.body.length, 0, `${status} without a body got one: ${bare.body}`);
        assert.equal(bare.headers["x-kept"], "yes");
        assert.equal(bare.headers["content-type"], undefined);
        if (status === 204 || status === 304) continue;
        const full = await fetchReply(`${host.base}/${status}/json`);
        assert.equal(full.status, status);
        assert.equal(jsonBody(full).status, String(status));
        assert.equal(full.headers["content-type"], "application/json");
      }
    });
  });

  test("HEAD is answered with headers alone, and a stream given as its body is destroyed", async () => {
    const streams: Readable[] = [];
    const serving = service(async (call) => {
      const headers = { "Content-Type": "image/png", "Content-Length": "123456", ETag: '"x"' };
      if (call.path === "/none") return { status: 200, headers };
      const body = Readable.from([picture], { objectMode: false });
      streams.push(body);
      return { status: call.path === "/204" ? 204 : 200, headers, body };
    });
    await withHost(scope, serving, async (host) => {
      for (const path of ["/none", "/stream"]) {
        const { body, headers } = await fetchReply(host.base + path, { method: "HEAD" });
        assert.deepEqual(
          [body.length, headers["content-length"], headers["content-type"], headers.etag],
          [0, "123456", "image/png", '"x"'],
        );
      }
      assert.equal((await fetchReply(`${host.base}/204`)).body.length, 0);
      assert.equal(streams.length, 2);
      await until(() => streams.every((stream) => stream.destroyed), "both streams are destroyed");
    });
  });

  test("many requests on one connection are all answered", async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const serving = service(async (call) => ({
      status: call.path === "/5" ? 304 : 200,
      headers: { "Content-Type": "image/png" },
      ...(call.path === "/5" ? {} : { body: picture }),
    }));
    try {
      await withHost(scope, serving, async (host) => {
        const replies: ClientReply[] = [];
        for (let index = 0; index < 10; index++) {
          replies.push(await fetchReply(`${host.base}/${index}`, { agent }));
        }
        assert.deepEqual(
          replies.map((reply) => reply.body.length),
          [...Array(10).keys()].map((index) => (index === 5 ? 0 : picture.length)),
        );
        assert.ok(replies.every((reply) => reply.headers.connection !== "close"));
        agent.destroy();
      });
    } finally {
      agent.destroy();
    }
  });

  for (const kind of ["with a length", "of unknown length"]) {
    test(`the connection breaks when a source ${kind} fails half-way`, async () => {
      const failure = new Error("disk gone");
      const serving = service(async () => ({
        status: 200,
        headers: {
          "Content-Type": "image/png",
          ...(kind === "with a length" ? { "Content-Length": String(2 * MIB) } : {}),
        },
        body: Readable.from(
          (async function* () {
            yield Buffer.alloc(MIB);
            await pause(20);
            throw failure;
          })(),
          { objectMode: false },
        ),
      }));
      await withHost(scope, serving, async (host) => {
        const res = await openReply(`${host.base}/`);
        assert.equal(res.statusCode, 200);
        const outcome = new Promise((resolve) => {
          res.resume();
          res.once("error", resolve).once("end", () => resolve(null));
        });
        assert.notEqual(
          await within(outcome, "the broken reply to end"),
          null,
          "the reply ended as if it were whole",
        );
        assert.equal(res.complete, false);
        await until(() => host.lastError() !== undefined, "the host receives the failure");
        assert.equal(host.lastError(), failure);
      });
    });
  }

  test("the connection breaks, without another status, when a source fails before its first byte", async () => {
    const serving = service(async () => ({
      status: 200,
      headers: { "Content-Type": "image/png" },
      body: new Readable({
        read() {
          this.destroy(Object.assign(new Error("no such file"), { code: "ENOENT" }));
        },
      }),
    }));
    await withHost(scope, serving, async (host) => {
      const text = await sendRaw(host.origin, getRequest(`${scope.mountPath}/`));
      assert.ok(text === "" || (text.startsWith("HTTP/1.1 200") && !text.endsWith("0\r\n\r\n")), text);
    });
  });

  test("a slow client slows the source down, so that memory stays bounded", async () => {
    const total = 64 * MIB;
    let produced = 0;
    const serving = service(async () => ({
      status: 200,
      headers: { "Content-Type": "image/png", "Content-Length": String(total) },
      body: new Readable({
        read() {
          const chunk = produced < total ? Buffer.alloc(MIB, produced / MIB) : null;
          produced += chunk?.length ?? 0;
          this.push(chunk);
        },
      }),
    }));
    await withHost(scope, serving, async (host) => {
      const res = await openReply(`${host.base}/`);
      let before = -1;
      await until(async () => {
        const stood = before === produced;
        before = produced;
        await pause(50);
        return stood && before === produced;
      }, "the source stops while the client does not read");
      assert.ok(produced < total / 2, `${produced} bytes were produced for a client that reads nothing`);
      let received = 0;
      for await (const chunk of res) received += chunk.length;
      assert.equal(received, total);
    });
  });

  const failures: Record<string, [unknown, (failure: unknown) => Service["handle"]]> = {
    "a failure of the service": [new Error("a bug"), (failure) => () => Promise.reject(failure)],
    "an error of another copy of core unchanged": [
      foreignError("store_unavailable"),
      (failure) => () => Promise.reject(failure),
    ],
    "what a service throws synchronously": [
      new Error("an early bug"),
      (failure) => () => {
        throw failure;
      },
    ],
  };
  for (const [title, [failure, failWith]] of Object.entries(failures)) {
    test(`the host's error handling receives ${title}`, () =>
      withHost(scope, { handle: failWith(failure) }, async (host) => {
        const reply = await fetchReply(`${host.base}/`);
        assert.equal(reply.status, 500);
        assert.equal(host.lastError(), failure);
        assert.ok(!reply.body.toString().includes((failure as Error).stack ?? "?"));
      }));
  }
}
