import { describe, expect, it } from "vitest";
import type { Call } from "../contracts/call.ts";
import { watchForProxy } from "./client.ts";

/** The headers that the watcher warned about for these requests. */
function warnings(...calls: { clientIp?: string; peerIp?: string; headers?: Call["headers"] }[]): string[] {
  const warned: string[] = [];
  const watch = watchForProxy((header) => warned.push(header));
  for (const call of calls) {
    // No other field of the call is read.
    watch({ clientIp: "10.0.0.1", peerIp: "10.0.0.1", headers: {}, ...call } as Call);
  }
  return warned;
}

describe("watchForProxy", () => {
  it("warns once, at the first forwarding header from an untrusted sender", () => {
    const forwarded = { headers: { "x-forwarded-for": "192.0.2.1" } };
    expect(warnings({}, forwarded, forwarded, { headers: { forwarded: "for=192.0.2.1" } })).toEqual([
      "x-forwarded-for",
    ]);
  });

  it.each(["forwarded", "x-real-ip", "cf-connecting-ip", "true-client-ip"])(
    "recognises the header %s",
    (name) => {
      expect(warnings({ headers: { [name]: "192.0.2.1" } })).toEqual([name]);
    },
  );

  it("does not warn about a proxy that the host framework trusts", () => {
    const headers = { "x-forwarded-for": "192.0.2.1", "x-real-ip": "192.0.2.1" };
    expect(warnings({ clientIp: "192.0.2.1", headers })).toEqual([]);
  });

  it("does not warn about requests without a forwarding header, or from the proxy itself", () => {
    expect(warnings({}, { headers: { "x-forwarded-proto": "https" } })).toEqual([]);
    expect(warnings({ headers: { "x-forwarded-for": "10.0.0.1" } })).toEqual([]);
  });
});
