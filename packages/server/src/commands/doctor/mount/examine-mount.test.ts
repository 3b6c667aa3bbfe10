import { createServer, type RequestListener } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { checkPlainTwin, checkTls, otherPlaces, plainTwinOf } from "./examine-mount.ts";
import type { Answer } from "./visit.ts";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => new Promise((resolve) => server.close(resolve)));
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
}

const HELLO: Answer = {
  status: 405,
  headers: { allow: "POST, OPTIONS" },
  body: Buffer.alloc(0),
  sentMs: 0,
  arrivedMs: 0,
  isLoopback: false,
  certificateDays: null,
  tlsVersion: null,
};

describe("checkTls", () => {
  it.each<[string, Partial<Answer>, string, string]>([
    ["http://img.example", {}, "problem", "the service answers plain http"],
    ["http://localhost:3000", { isLoopback: true }, "ok", "for development"],
    ["https://img.example", { certificateDays: 60, tlsVersion: "TLSv1.3" }, "ok", "TLSv1.3, the certificate"],
    ["https://img.example", { certificateDays: 13, tlsVersion: "TLSv1.2" }, "warning", "valid for 13 days"],
  ])("rates %s with %j as %s", (base, facts, status, detail) => {
    expect(checkTls(base, { ...HELLO, ...facts })).toMatchObject({
      check: "TLS",
      status,
      detail: expect.stringContaining(detail),
    });
  });
});

describe("checkPlainTwin", () => {
  it.each<[string, RequestListener, string, string]>([
    [
      "a redirect to TLS",
      (_req, res) => void res.writeHead(308, { location: "https://img.example/" }).end(),
      "ok",
      "as expected",
    ],
    ["a refusal", (_req, res) => void res.writeHead(403).end(), "ok", "as expected"],
    [
      "a service",
      (_req, res) => void res.writeHead(405, { allow: "POST, OPTIONS" }).end(),
      "problem",
      "serves images without TLS",
    ],
  ])("rates the http address of %s by its reply", async (_what, listener, status, detail) => {
    const finding = await checkPlainTwin(await listen(listener));
    expect(finding).toMatchObject({ check: "plain http", status, detail: expect.stringContaining(detail) });
  });

  it("reports ok if nothing listens", async () => {
    const origin = await listen(() => undefined);
    for (const close of closing.splice(0)) await close();
    expect(await checkPlainTwin(origin)).toMatchObject({ status: "ok" });
  });
});

it("plainTwinOf returns an address only for the default port", () => {
  expect(plainTwinOf("https://img.example/img")).toBe("http://img.example/img");
  expect(plainTwinOf("https://img.example:8443/img")).toBeNull();
  expect(plainTwinOf("http://img.example/img")).toBeNull();
});

it("otherPlaces lists parent paths first, then common mount points", () => {
  const places = otherPlaces("https://example.com/a/b/api");
  expect(places.slice(0, 4)).toEqual([
    "https://example.com/a/b",
    "https://example.com/a",
    "https://example.com",
    "https://example.com/img",
  ]);
  expect(otherPlaces("https://example.com/img")).not.toContain("https://example.com/img");
});
