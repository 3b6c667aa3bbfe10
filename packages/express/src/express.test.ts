import type { Call, Service } from "@outrigger/core";
import { adapterContract } from "@outrigger/testing";
import type { Application } from "express";
import { describe, expect, it } from "vitest";
import { recording, withApp } from "../../fetch/test/serve.ts";
import { express4, express5, harnessOf } from "../test/harness.ts";
import { express } from "./express.ts";

// express.long.test.ts has the contract under a path, too.
describe("Express 5 adapter contract", () =>
  adapterContract((name, body) => {
    if (name.startsWith("adapter at the root")) it(name, body);
  }, harnessOf(express5)));

for (const [name, framework] of [
  ["Express 4", express4],
  ["Express 5", express5],
] as const) {
  describe(name, () => {
    it("mounts in nested routers with parameters in their paths", async () => {
      const seen: unknown[] = [];
      const outer = framework.Router();
      const inner = framework.Router();
      inner.use("/img", express(recording(seen)));
      outer.use("/:tenant", inner);
      const app = framework();
      app.use("/app", outer);
      await withApp(app, async (origin) => {
        await fetch(`${origin}/app/acme/img/a/b?c=d`);
      });
      expect(seen).toEqual([{ mountPath: "/app/acme/img", path: "/a/b", search: "c=d" }]);
    });

    it("mounts as the handler of a route", async () => {
      const seen: unknown[] = [];
      const app = framework();
      app.post("/upload", express(recording(seen)));
      await withApp(app, async (origin) => {
        await fetch(`${origin}/upload`, { method: "POST" });
      });
      expect(seen).toEqual([{ mountPath: "", path: "/upload", search: "" }]);
    });

    it("passes the Express request, with values of earlier middleware, as call.context", async () => {
      let user: unknown;
      const app = framework();
      app.use((req, _res, next) => {
        Object.assign(req, { user: "ann" });
        next();
      });
      app.use(
        express({
          async handle(call) {
            user = Reflect.get(Object(call.context), "user");
            return { status: 204, headers: {} };
          },
        }),
      );
      await withApp(app, async (origin) => {
        await fetch(origin);
      });
      expect(user).toBe("ann");
    });

    describe("with trust proxy", () => {
      const forwarded = {
        "X-Forwarded-For": "203.0.113.9, 198.51.100.7",
        "X-Forwarded-Proto": "HTTPS",
        "X-Forwarded-Host": "img.example:8443, inner.example",
      };

      it("uses protocol, host with port and client address of a trusted proxy", async () => {
        expect(await facts("loopback", forwarded)).toEqual({
          origin: "https://img.example:8443",
          secure: true,
          clientIp: "198.51.100.7",
          peerIp: "127.0.0.1",
        });
      });

      it("accepts an IPv6 host of a trusted proxy, and uses Host if the proxy sends none", async () => {
        expect(await facts(true, { "X-Forwarded-Host": "[2001:db8::1]" })).toMatchObject({
          origin: "http://[2001:db8::1]",
        });
        const { origin } = await facts(true, { "X-Forwarded-Proto": "https" });
        expect(origin).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
      });

      it("ignores forwarding headers of an untrusted peer", async () => {
        for (const trust of [false, "10.0.0.0/8"]) {
          const seen = await facts(trust, forwarded);
          expect(seen).toMatchObject({ secure: false, clientIp: "127.0.0.1" });
          expect(seen.origin).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
        }
      });

      it("has an empty origin if the proxy's host is not a valid host", async () => {
        expect(await facts(true, { "X-Forwarded-Host": 'evil"/><x' })).toMatchObject({ origin: "" });
      });

      it("applies in a mounted app too", async () => {
        const sub = framework();
        expect(await facts(true, forwarded, sub)).toMatchObject({
          origin: "https://img.example:8443",
          mountPath: "/sub",
        });
      });
    });

    async function facts(
      trust: unknown,
      headers: Record<string, string>,
      sub?: Application,
    ): Promise<Partial<Call>> {
      let seen: Partial<Call> = {};
      const service: Service = {
        async handle({ origin, secure, clientIp, peerIp, mountPath }) {
          seen = { origin, secure, clientIp, peerIp, ...(sub && { mountPath }) };
          return { status: 204, headers: {} };
        },
      };
      const app = framework();
      app.set("trust proxy", trust);
      (sub ?? app).use(express(service));
      if (sub) app.use("/sub", sub);
      await withApp(app, async (origin) => {
        await fetch(`${origin}${sub ? "/sub/" : "/"}`, { headers });
      });
      return seen;
    }
  });
}
