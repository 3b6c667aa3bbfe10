import { createServer as createSecureServer, get as secureGet } from "node:https";
import type { AddressInfo } from "node:net";
import type { Service } from "@outrigger/core";
import { describe, expect, it } from "vitest";
import { nodeListener } from "./node-listener.ts";

describe("nodeListener", () => {
  it("reports a request over TLS as secure", async () => {
    let seen: unknown;
    const service: Service = {
      async handle({ origin, secure }) {
        seen = { origin, secure };
        return { status: 204, headers: {} };
      },
    };
    // A pre-shared key needs no certificates.
    const psk = Buffer.from("00112233445566778899aabbccddeeff", "hex");
    const tls = { ciphers: "PSK", maxVersion: "TLSv1.2" } as const;
    const server = createSecureServer({ ...tls, pskCallback: () => psk }, nodeListener(service));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve, reject) => {
      const options = {
        ...tls,
        port,
        host: "127.0.0.1",
        agent: false,
        pskCallback: () => ({ psk, identity: "test" }),
        checkServerIdentity: () => undefined,
      };
      secureGet(options, (res) => res.resume().once("end", resolve)).once("error", reject);
    });
    await new Promise((resolve) => server.close(resolve));
    expect(seen).toEqual({ origin: `https://127.0.0.1:${port}`, secure: true });
  });

  it("throws a TypeError for invalid options", () => {
    const service: Service = { handle: async () => undefined };
    for (const mountPath of ["img", "/a?b", "/*"]) {
      expect(() => nodeListener(service, { mountPath })).toThrow(TypeError);
    }
    expect(() => nodeListener(service, { onError: 1 as never })).toThrow(/onError must be a function/);
  });
});
