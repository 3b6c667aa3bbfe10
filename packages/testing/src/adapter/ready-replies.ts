import assert from "node:assert/strict";
import { Agent } from "node:http";
import type { Service } from "@outrigger/core";
import { fetchReply } from "./http-client.ts";
import { pseudoRandomBytes } from "./multipart.ts";
import { type Scope, withHost } from "./scope.ts";
import { json } from "./services.ts";

/** Replies that a service has at hand, without a promise. */
export function readyRepliesBehaviour(scope: Scope): void {
  const { test } = scope;
  const picture = pseudoRandomBytes(20 * 1024);

  test("a reply that the service has at hand is sent as it is, and every other request is handled as usual", async () => {
    const length = String(picture.length);
    const headers = ["Content-Type", "image/x-test", "ETag", '"a"', "Content-Length", length];
    const serving: Service = {
      handle: async ({ path }) => json(200, path),
      answerNow({ method, path }) {
        if (path === "/unchanged") return { status: 304, headers: headers.slice(0, 4) };
        if (path !== "/ready") return undefined;
        return method === "HEAD" ? { status: 200, headers } : { status: 200, headers, body: picture };
      },
    };
    await withHost(scope, serving, async (host) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      for (const [method, path, status, body] of [
        ["GET", "/ready", 200, picture],
        ["GET", "/other", 200, Buffer.from('"/other"')],
        ["HEAD", "/ready", 200, Buffer.alloc(0)],
        ["GET", "/unchanged", 304, Buffer.alloc(0)],
        ["GET", "/ready", 200, picture],
      ] as const) {
        const reply = await fetchReply(host.base + path, { method, agent });
        assert.deepEqual([reply.status, reply.body], [status, body], `${method} ${path}`);
        if (path === "/other") continue;
        assert.equal(reply.headers.etag, '"a"');
        if (status === 200) {
          assert.equal(reply.headers["content-type"], "image/x-test");
          assert.equal(reply.headers["content-length"], length);
        }
      }
      agent.destroy();
      assert.equal(host.lastError(), undefined);
    });
  });
}
