import { createServer } from "node:http";
import type { Service } from "@outrigger/core";
import { nodeListener } from "@outrigger/node";
import { describe, expect, it } from "vitest";
import { serve } from "../../fetch/test/serve.ts";
import { CONNECT_HOSTS } from "../test/connect-hosts.ts";
import { express } from "./express.ts";

describe.each(Object.entries(CONNECT_HOSTS))("%s", (_, { mount }) => {
  it("tells the service its mount path, its address and the client", async () => {
    const seen: unknown[] = [];
    const listener = await mount("/img", express(recording(seen)));
    const { origin, close } = await serve(createServer(listener));
    await fetch(`${origin}/img/api/images.json?a=b`, { method: "POST" });
    await fetch(`${origin}/img`);
    await fetch(`${origin}/imgx`);
    const facts = { mountPath: "/img", origin, secure: false, clientIp: "127.0.0.1" };
    expect(seen).toEqual([
      { ...facts, path: "/api/images.json", search: "a=b" },
      { ...facts, path: "/", search: "" },
    ]);
    await close();
  });

  it.each([undefined, "/img"])("mounts nodeListener with the mountPath %s", async (mountPath) => {
    const seen: unknown[] = [];
    const options = mountPath === undefined ? {} : { mountPath };
    const listener = await mount("/img", nodeListener(recording(seen), options));
    const { origin, close } = await serve(createServer(listener));
    expect((await fetch(`${origin}/img/api/images.json?a=b`)).status).toBe(204);
    expect(seen).toMatchObject([{ mountPath: "/img", path: "/api/images.json", search: "a=b" }]);
    await close();
  });
});

function recording(seen: unknown[]): Service {
  return {
    async handle({ mountPath, path, search, origin, secure, clientIp }) {
      seen.push({ mountPath, path, search, origin, secure, clientIp });
      return { status: 204, headers: {} };
    },
  };
}
