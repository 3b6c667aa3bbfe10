import { type AdapterHarness, adapterContract } from "@outrigger/testing";
import { describe, it } from "vitest";
import { type BridgeEnv, serveRequests } from "../test/bridge.ts";
import { toFetchHandler } from "./fetch-handler.ts";

const clientAddress = (_request: Request, { incoming }: BridgeEnv) => incoming.socket.remoteAddress;

const harness: AdapterHarness = {
  hasHostRoutes: true,
  hasWire: false,
  parsing: ["nothing left"],
  async start(service, { mountPath, other, parsing }) {
    let lastError: unknown;
    const options = { clientAddress, otherwise: "null" } as const;
    const first = toFetchHandler(service, { ...options, prefix: mountPath });
    const second = other && toFetchHandler(other, { ...options, prefix: "/other" });
    const host = await serveRequests(
      async (request, env) => {
        if (parsing === "nothing left") await request.arrayBuffer();
        const reply = (await first(request, env)) ?? (await second?.(request, env));
        if (reply) return reply;
        const isOwn = new URL(request.url).pathname === "/host";
        return isOwn ? new Response("host") : new Response(null, { status: 404 });
      },
      (error) => {
        lastError = error;
      },
    );
    return { ...host, lastError: () => lastError };
  },
};

describe("adapter contract", () => adapterContract(it, harness));
