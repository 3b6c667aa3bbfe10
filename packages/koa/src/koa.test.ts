import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import Router from "@koa/router";
import type { Call, Service } from "@outrigger/core";
import { type AdapterHarness, adapterContract } from "@outrigger/core/testing";
import Koa3 from "koa";
import multer from "multer";
import { describe, expect, it } from "vitest";
import { koa } from "./koa.ts";

// These packages have no types; the tests use only functions that Koa 2 and 3 share.
const load = createRequire(import.meta.url);
const Koa2: typeof Koa3 = load("koa-2");
const mountAt: (prefix: string, middleware: Koa3.Middleware) => Koa3.Middleware = load("koa-mount");
const parseFields: () => Koa3.Middleware = load("koa-bodyparser");
type NodeMiddleware = (req: unknown, res: unknown, next: (error?: unknown) => void) => void;

/** Ways in which the contract tests mount the service at a path. */
const WAYS = {
  prefix: (service: Service, mountPath: string) => koa(service, { prefix: mountPath }),
  "koa-mount": (service: Service, mountPath: string) => mountAt(mountPath || "/", koa(service)),
};

for (const [name, Koa] of [
  ["Koa 2", Koa2],
  ["Koa 3", Koa3],
] as const) {
  for (const [way, place] of Object.entries(WAYS)) {
    const harness: AdapterHarness = {
      hasHostRoutes: true,
      parsing: ["fields", "files", "nothing left"],
      async start(service, { mountPath, other, parsing }) {
        const app = new Koa();
        let lastError: unknown;
        // Koa also reports every connection that a client closed early.
        app.on("error", (error) => {
          if (!/^(?:ECONNRESET|EPIPE|HPE_|ERR_STREAM_PREMATURE_CLOSE)/.test(error.code)) lastError = error;
        });
        if (parsing === "fields") app.use(parseFields());
        if (parsing === "files") app.use(leaveFiles);
        if (parsing === "nothing left") {
          app.use(async (ctx, next) => {
            await new Promise((resolve) => ctx.req.resume().once("end", resolve));
            await next();
          });
        }
        app.use(place(service, mountPath));
        if (other) app.use(place(other, "/other"));
        app.use(async (ctx, next) => {
          if (ctx.path === "/host") ctx.body = "host";
          else await next();
        });
        return { ...(await listen(app)), lastError: () => lastError };
      },
    };

    describe(`${name} with ${way}`, () => adapterContract(it, harness));
  }

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

    it("works in a router that has a prefix, and under koa-mount", async () => {
      const seen: unknown[] = [];
      const router = new Router({ prefix: "/img" });
      router.all("{/*path}", koa(recording(seen), { prefix: "/img" }));
      const app = new Koa();
      app.use(mountAt("/app", router.routes() as Koa3.Middleware));
      await withApp(app, async (origin) => {
        await fetch(`${origin}/app/img/a?b`);
        await fetch(`${origin}/app/img`);
      });
      expect(seen).toEqual([
        { mountPath: "/app/img", path: "/a", search: "b" },
        { mountPath: "/app/img", path: "/", search: "" },
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

    it("sets the reply on the context, where surrounding middleware sees it", async () => {
      const log: unknown[] = [];
      const app = new Koa();
      app.use(async (ctx, next) => {
        await next();
        log.push(ctx.status, ctx.type, ctx.length);
        ctx.set("X-Around", "yes");
      });
      app.use(
        koa({
          handle: async () => ({
            status: 201,
            headers: { "Content-Type": "image/png" },
            body: Buffer.alloc(9),
          }),
        }),
      );
      await withApp(app, async (origin) => {
        expect((await fetch(origin)).headers.get("x-around")).toBe("yes");
      });
      expect(log).toEqual([201, "image/png", 9]);
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

function recording(seen: unknown[]): Service {
  return {
    async handle({ mountPath, path, search }) {
      seen.push({ mountPath, path, search });
      return { status: 204, headers: {} };
    },
  };
}

/**
 * Receives files like `@koa/multer`: runs multer on the Node request and moves its results to Koa's request.
 */
async function leaveFiles(ctx: Koa3.Context, next: Koa3.Next): Promise<void> {
  const { req, res } = ctx;
  const receive = multer().any() as unknown as NodeMiddleware;
  await new Promise<void>((resolve, reject) =>
    receive(req, res, (error) => (error ? reject(error) : resolve())),
  );
  const { body, files } = req as typeof req & { body?: unknown; files?: unknown };
  Object.assign(ctx.request, { body, files });
  await next();
}

async function listen(app: Koa3) {
  const server = app.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
      }),
  };
}

async function withApp(app: Koa3, body: (origin: string) => Promise<void>): Promise<void> {
  const { origin, close } = await listen(app);
  try {
    await body(origin);
  } finally {
    await close();
  }
}
