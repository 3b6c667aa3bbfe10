import { once } from "node:events";
import { createReadStream } from "node:fs";
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import Router from "@koa/router";
import type { Call, Service } from "@outrigger/core";
import { describe, expect, it } from "vitest";
import { recording, withApp } from "../../fetch/test/serve.ts";
import { Koa2, Koa3, mountAt } from "../test/harness.ts";
import { koa } from "./koa.ts";

// koa.long.test.ts has the contract of adapters, in every version and way of mounting.
for (const [name, Koa] of [
  ["Koa 2", Koa2],
  ["Koa 3", Koa3],
] as const) {
  describe(name, () => {
    it("works in a router with the whole path as prefix", async () => {
      const seen: unknown[] = [];
      const router = new Router();
      router.all("/img{/*path}", koa(recording(seen), { prefix: "/img" }));
      router.get("/imgx", (ctx) => {
        ctx.body = "host";
      });
      const app = new Koa();
      app.use(router.routes()).use(router.allowedMethods());
      await withApp(app, async (origin) => {
        for (const [method, path] of [
          ["GET", "/img"],
          ["POST", "/img/api/images.json?x=1"],
          ["PATCH", "/img/a"],
          ["DELETE", "/img/a//b%2Fc"],
          ["HEAD", "/img/"],
        ]) {
          expect((await fetch(origin + path, { method: method ?? "" })).status).toBe(204);
        }
        expect(await (await fetch(`${origin}/imgx`)).text()).toBe("host");
      });
      expect(seen).toEqual([
        { mountPath: "/img", path: "/", search: "" },
        { mountPath: "/img", path: "/api/images.json", search: "x=1" },
        { mountPath: "/img", path: "/a", search: "" },
        { mountPath: "/img", path: "/a//b%2Fc", search: "" },
        { mountPath: "/img", path: "/", search: "" },
      ]);
    });

    it("lets middleware around it see and change a reply at hand, and sends the same reply as outermost middleware", async () => {
      const bytes = Buffer.from("picture");
      const headers = ["Content-Type", "image/x-test", "ETag", '"a"', "Content-Length", String(bytes.length)];
      const service: Service = {
        handle: async () => undefined,
        answerNow: ({ path }) =>
          path === "/same"
            ? { status: 304, headers: ["ETag", '"a"'] }
            : { status: 200, headers, body: bytes },
      };
      const seen: unknown[] = [];
      const around = new Koa();
      around.use(async (ctx: Koa3.Context, next: () => Promise<unknown>) => {
        await next();
        seen.push([ctx.status, ctx.response.get("ETag"), ctx.body]);
        ctx.set("X-Response-Time", "1");
      });
      around.use(koa(service));
      const alone = new Koa();
      alone.use(koa(service));
      for (const app of [around, alone]) {
        await withApp(app, async (origin) => {
          for (const [path, status, text] of [
            ["/picture", 200, "picture"],
            ["/same", 304, ""],
          ] as const) {
            const response = await fetch(origin + path);
            expect([response.status, await response.text()]).toEqual([status, text]);
            expect(response.headers.get("ETag")).toBe('"a"');
            expect(response.headers.get("X-Response-Time")).toBe(app === around ? "1" : null);
          }
        });
      }
      expect(seen).toEqual([
        [200, '"a"', bytes],
        [304, '"a"', null],
      ]);
    });

    it("determines its mount path under nested koa-mount and with a trailing slash", async () => {
      const seen: unknown[] = [];
      const app = new Koa();
      app.use(mountAt("/a", mountAt("/b", koa(recording(seen)))));
      app.use(mountAt("/slash/", koa(recording(seen))));
      await withApp(app, async (origin) => {
        await fetch(`${origin}/a/b/c/b?d`);
        await fetch(`${origin}/a/b`);
        await fetch(`${origin}/slash/x/y`);
      });
      expect(seen).toEqual([
        { mountPath: "/a/b", path: "/c/b", search: "d" },
        { mountPath: "/a/b", path: "/", search: "" },
        { mountPath: "/slash", path: "/x/y", search: "" },
      ]);
    });

    it("passes the Koa context with its state as call.context", async () => {
      let user: unknown;
      const app = new Koa();
      app.use(async (ctx, next) => {
        ctx.state.user = "ann";
        await next();
      });
      app.use(
        koa({
          async handle(call) {
            user = Reflect.get(Object(Reflect.get(Object(call.context), "state")), "user");
            return { status: 204, headers: {} };
          },
        }),
      );
      await withApp(app, async (origin) => {
        await fetch(origin);
      });
      expect(user).toBe("ann");
    });

    it("uses forwarding headers only if app.proxy is set", async () => {
      const headers = {
        "X-Forwarded-For": "203.0.113.9",
        "X-Forwarded-Proto": "https",
        "X-Forwarded-Host": "img.example:8443",
      };
      expect(await facts(true, headers)).toEqual({
        origin: "https://img.example:8443",
        secure: true,
        clientIp: "203.0.113.9",
        peerIp: "127.0.0.1",
      });
      expect(await facts(true, { "X-Forwarded-Host": "[2001:db8::1]:81" })).toMatchObject({
        origin: "http://[2001:db8::1]:81",
        secure: false,
      });
      const direct = await facts(false, headers);
      expect(direct).toMatchObject({ secure: false, clientIp: "127.0.0.1", peerIp: "127.0.0.1" });
      expect(direct.origin).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    });

    it.each([
      ["goes on sending after a 413", 413],
      ["aborts an upload", "upload"],
      ["aborts a download", "download"],
    ])("reports no error to the app if a client %s", async (_what, way) => {
      let end = () => {};
      const ended = new Promise<void>((resolve) => {
        end = resolve;
      });
      let begin = () => {};
      const begun = new Promise<void>((resolve) => {
        begin = resolve;
      });
      const app = new Koa();
      const heard: Error[] = [];
      app.on("error", (error) => heard.push(error));
      app.use(async (ctx, next) => {
        ctx.res.once("close", end);
        await next();
      });
      app.use(
        koa({
          async handle({ signal }) {
            begin();
            if (way === 413) return { status: 413, headers: { Connection: "close" }, body: "Too large" };
            if (way === "download") return { status: 200, headers: {}, body: createReadStream("/dev/zero") };
            await new Promise((resolve) => signal.addEventListener("abort", resolve));
            throw signal.reason;
          },
        }),
      );
      await withApp(app, async (origin) => {
        const socket = connect(Number(new URL(origin).port), "127.0.0.1").on("error", () => {});
        const method = way === "download" ? "GET" : "POST";
        socket.write(`${method} / HTTP/1.1\r\nHost: a\r\nContent-Length: 9000000\r\n\r\n`);
        // More would stop an upload that is not read, so that its end is not seen.
        socket.write(Buffer.alloc(way === "upload" ? 10 : 100_000));
        if (way === "upload") await begun;
        else await once(socket, "data");
        socket.destroy();
        await ended;
        await delay(50);
      });
      expect(heard).toEqual([]);
    });

    it("reports every error that the service throws, and those of other middleware, to the app", async () => {
      const app = new Koa();
      const heard: unknown[] = [];
      app.on("error", (error) => heard.push(error.message));
      const failure = (message: string) => Object.assign(new Error(message), { code: "ECONNRESET" });
      app.use(
        koa({
          async handle({ path }) {
            if (path === "/own") throw failure("of the service");
            return undefined;
          },
        }),
      );
      app.use(async () => {
        throw failure("of the host");
      });
      await withApp(app, async (origin) => {
        expect((await fetch(`${origin}/own`)).status).toBe(500);
        expect((await fetch(`${origin}/host`)).status).toBe(500);
      });
      expect(heard).toEqual(["of the service", "of the host"]);
    });

    async function facts(proxy: boolean, headers: Record<string, string>): Promise<Partial<Call>> {
      let seen: Partial<Call> = {};
      const app = new Koa({ proxy });
      app.use(
        koa({
          async handle({ origin, secure, clientIp, peerIp }) {
            seen = { origin, secure, clientIp, peerIp };
            return { status: 204, headers: {} };
          },
        }),
      );
      await withApp(app, async (origin) => {
        await fetch(origin, { headers });
      });
      return seen;
    }
  });
}

describe("koa", () => {
  it("throws a TypeError for invalid options", () => {
    const service: Service = { handle: async () => undefined };
    for (const prefix of ["img", "/img?x", "/*", 7]) {
      expect(() => koa(service, { prefix: prefix as string })).toThrow(/prefix must be a path/);
    }
  });
});
