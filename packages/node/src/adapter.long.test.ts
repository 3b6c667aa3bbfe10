import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { type AdapterHarness, adapterContract } from "@outrigger/testing";
import { describe, it } from "vitest";
import { nodeListener } from "./node-listener.ts";

const harness: AdapterHarness = {
  hasHostRoutes: false,
  parsing: ["nothing left"],
  async start(service, { mountPath, other, parsing }) {
    let lastError: unknown;
    const onError = (error: unknown) => {
      lastError = error;
    };
    const first = nodeListener(service, { mountPath, onError });
    const second = other && nodeListener(other, { mountPath: "/other", onError });
    const server = createServer((req, res) => {
      const listener: RequestListener = second && req.url?.startsWith("/other/") ? second : first;
      if (parsing === "nothing left") req.resume().once("end", () => listener(req, res));
      else listener(req, res);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return {
      origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      lastError: () => lastError,
      close: () =>
        new Promise((resolve) => {
          server.close(() => resolve());
        }),
    };
  },
};

describe("adapter contract", () => adapterContract(it, harness));
