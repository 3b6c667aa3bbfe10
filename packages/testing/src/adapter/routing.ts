import assert from "node:assert/strict";
import type { Call } from "@outrigger/core";
import { fetchReply, jsonBody, jsonOf, sendRaw, statusOf } from "./http-client.ts";
import { type Scope, withHost } from "./scope.ts";
import { json, service } from "./services.ts";

/** Echoes the call's description of its request. */
const echo = service(async (call) => json(200, describe(call)));

function describe({ method, path, search, mountPath, origin, secure, clientIp, peerIp, headers }: Call) {
  return { method, path, search, mountPath, origin, secure, clientIp, peerIp, host: headers.host };
}

export function routingBehaviour(scope: Scope): void {
  const { test, wireTest, hasWire, mountPath, harness } = scope;

  test("the call has the method, path, query, mount point, origin and addresses of the request", () =>
    withHost(scope, echo, async (host) => {
      const reply = await fetchReply(`${host.base}/api/x.json?b=2&a=%20&b=1`, { method: "PATCH" });
      assert.equal(reply.status, 200);
      assert.deepEqual(jsonBody(reply), {
        method: "PATCH",
        path: "/api/x.json",
        search: "b=2&a=%20&b=1",
        mountPath,
        origin: host.origin,
        secure: false,
        clientIp: "127.0.0.1",
        peerIp: "127.0.0.1",
        host: host.origin.slice("http://".length),
      });
    }));

  test("a request for the mount point itself has the path /", () =>
    withHost(scope, echo, async (host) => {
      for (const [target, search] of [
        [mountPath === "" ? "/" : mountPath, ""],
        [`${mountPath}/`, ""],
        [`${mountPath || "/"}?q`, "q"],
        [`${mountPath}/?`, ""],
      ]) {
        const { path, search: seen, mountPath: mount } = await ask(host.origin, `GET ${target}`);
        assert.deepEqual([path, seen, mount], ["/", search, mountPath], target);
      }
    }));

  test("an unusual request target is passed on unchanged: not decoded, collapsed or resolved", () =>
    withHost(scope, echo, async (host) => {
      const resolved = ["/%2e%2e/", "/../x", "/a//b/./c"];
      for (const path of [
        ...(hasWire ? resolved : []),
        "//",
        "//evil.example/x",
        "/a//b/c",
        "/caf%C3%A9%2Fx",
        "/%",
        "/a;b=c,d:e@f!$&'()*+",
        "/%00",
      ]) {
        const seen = await ask(host.origin, `GET ${mountPath}${path}?x=/?y`);
        assert.deepEqual([seen.search, seen.mountPath], ["x=/?y", mountPath], path);
        // Express 4 treats the first of two slashes as part of its mount point.
        const isCut = mountPath !== "" && path.startsWith("//") && seen.path === path.slice(1);
        if (!isCut) assert.equal(seen.path, path);
      }
    }));

  test("a request target in absolute form gives path and query", () =>
    withHost(scope, echo, async (host) => {
      const seen = await ask(host.origin, `GET ${host.origin}${mountPath}/a/b?c=d`);
      assert.deepEqual([seen.path, seen.search, seen.mountPath], ["/a/b", "c=d", mountPath]);
    }));

  wireTest("OPTIONS * does not reach the service", async () => {
    let calls = 0;
    const counting = service(async () => {
      calls++;
      return undefined;
    });
    await withHost(scope, counting, async (host) => {
      const raw = await sendRaw(
        host.origin,
        "OPTIONS * HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n",
      );
      assert.notEqual(statusOf(raw), 0);
      assert.equal(calls, 0);
    });
  });

  test("call.origin has the Host with its port, and is empty if the Host is invalid", () =>
    withHost(scope, echo, async (host) => {
      const notInUrls = [
        ["Host: Images.example:8443", "http://Images.example:8443"],
        ['Host: a"><script>', ""],
        ["Host: user@a.example/path", ""],
        ["Host: a.example, b.example", ""],
      ] as const;
      for (const [header, origin] of [
        ["Host: images.example:8443", "http://images.example:8443"],
        ["Host: [::1]:8080", "http://[::1]:8080"],
        ["Host: my_service", "http://my_service"],
        ...(hasWire ? notInUrls : []),
      ] as const) {
        const seen = await ask(host.origin, `GET ${mountPath}/`, header);
        assert.ok(
          seen.origin === origin || (origin === "" && /^http:\/\/[\w.]+$/.test(String(seen.origin))),
          `${header} made ${seen.origin}`,
        );
      }
    }));

  wireTest("the host of a request target in absolute form wins over Host", () =>
    withHost(scope, echo, async (host) => {
      for (const [target, origin] of [
        [`http://images.example:8443${mountPath}/a`, "http://images.example:8443"],
        [`https://[2001:db8::1]${mountPath}/a`, "http://[2001:db8::1]"],
        [`http://user@a.example${mountPath}/a`, ""],
        [`http://a!b${mountPath}/a`, ""],
      ] as const) {
        for (const header of ["Host: b.example", "Host: b.example, c.example"]) {
          const seen = await ask(host.origin, `GET ${target}`, header);
          assert.deepEqual([seen.origin, seen.path], [origin, "/a"], `${target} ${header}`);
          assert.equal(seen.host, target.split("/")[2]);
        }
      }
    }),
  );

  wireTest("call.origin is empty with several Host headers, and call.headers.host has all", () =>
    withHost(scope, echo, async (host) => {
      for (const [first, second] of [
        ["Host: a.example", "host: b.example"],
        ["Host: a.example", "HOST: a.example"],
      ] as const) {
        for (const target of [`${mountPath}/`, `http://c.example${mountPath}/`]) {
          const seen = await ask(host.origin, `GET ${target}`, `${first}\r\nX-Thing: 1\r\n${second}`);
          assert.deepEqual([seen.origin, seen.path], ["", "/"], target);
          assert.equal(seen.host, `${first.slice(6)}, ${second.slice(6)}`);
        }
      }
    }),
  );

  wireTest("call.origin is empty for an HTTP/1.0 request without Host", () =>
    withHost(scope, echo, async (host) => {
      const raw = await sendRaw(host.origin, `GET ${mountPath}/ HTTP/1.0\r\n\r\n`);
      assert.equal(statusOf(raw), 200);
      assert.equal((jsonOf(raw) as { origin: string }).origin, "");
    }),
  );

  test("forwarding headers are ignored unless the host trusts the proxy", () =>
    withHost(scope, echo, async (host) => {
      const reply = await fetchReply(`${host.base}/`, {
        headers: {
          "X-Forwarded-For": "203.0.113.9",
          "X-Forwarded-Proto": "https",
          "X-Forwarded-Host": "evil.example",
          Forwarded: "for=203.0.113.9;proto=https;host=evil.example",
        },
      });
      const seen = jsonBody(reply);
      assert.equal(seen.origin, host.origin);
      assert.equal(seen.secure, false);
      assert.equal(seen.clientIp, "127.0.0.1");
    }));

  test("header names are in lower case, and call.context is the framework's own request", async () => {
    let context: unknown;
    let header: unknown;
    const looking = service(async (call) => {
      context = call.context;
      header = call.headers["x-thing"];
      return json(200, {});
    });
    await withHost(scope, looking, async (host) => {
      await fetchReply(`${host.base}/`, { headers: { "X-Thing": "yes" } });
    });
    assert.equal(header, "yes");
    assert.ok(typeof context === "object" && context !== null && "url" in context);
  });

  test("the host answers a request for which the service returns undefined", () =>
    withHost(
      scope,
      service(async () => undefined),
      async (host) => {
        const own = await fetchReply(`${host.origin}/host`);
        const unknown = await fetchReply(`${host.base}/unknown`);
        assert.equal(unknown.status, 404);
        if (harness.hasHostRoutes) {
          assert.equal(own.status, 200);
          assert.equal(own.body.toString(), "host");
        } else {
          assert.equal(own.status, 404);
          assert.equal(own.headers["content-type"], "application/problem+json; charset=utf-8");
          assert.equal(jsonBody(own).status, 404);
        }
        assert.equal(host.lastError(), undefined);
      },
    ));

  if (mountPath !== "") {
    test("requests outside the mount point do not reach the service", async () => {
      const paths: string[] = [];
      const recording = service(async (call) => {
        paths.push(call.path);
        return undefined;
      });
      await withHost(scope, recording, async (host) => {
        for (const path of ["/", "/imgx", "/im", "/imgx/img/", "/other/img"]) {
          await fetchReply(host.origin + path);
        }
      });
      assert.deepEqual(paths, []);
    });
  }

  test("two services in one app each receive their own requests", async () => {
    const first = service(async (call) => (call.path === "/first" ? json(200, describe(call)) : undefined));
    const second = service(async (call) => (call.path === "/second" ? json(200, describe(call)) : undefined));
    await withHost(
      scope,
      first,
      async (host) => {
        const one = await fetchReply(`${host.base}/first`);
        const two = await fetchReply(`${host.origin}/other/second`);
        assert.equal(jsonBody(one).mountPath, mountPath);
        assert.equal(jsonBody(two).mountPath, "/other");
        assert.equal((await fetchReply(`${host.origin}/other/first`)).status, 404);
      },
      { other: second },
    );
  });
}

/** Sends a request line that no ordinary client sends, and returns the call that the service received. */
async function ask(
  origin: string,
  requestLine: string,
  host = `Host: ${new URL(origin).host}`,
): Promise<Record<string, unknown>> {
  const raw = await sendRaw(origin, `${requestLine} HTTP/1.1\r\n${host}\r\nConnection: close\r\n\r\n`);
  assert.equal(statusOf(raw), 200, `${requestLine}: ${raw}`);
  return jsonOf(raw) as Record<string, unknown>;
}
