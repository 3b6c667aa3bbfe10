import { readFile } from "node:fs/promises";
import { express as mount } from "@outrigger/express";
import express from "express";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Finding } from "../packages/server/src/commands/doctor/finding.ts";
import { outrigger, temporaryDirectory } from "../packages/server/test/outrigger-process.ts";
import { createSelfSigned } from "./backends/self-signed.ts";
import { amiss, examine } from "./support/examine-mount.ts";
import { serveHost } from "./support/listen.ts";
import { type Site, startSite } from "./support/service.ts";
import { type Spoiling, startSpoilingProxy } from "./support/spoiling-proxy.ts";

let site: Site;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  site = await startSite({ sizes: "steps" });
});
afterAll(() => site.close());
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

describe("doctor over TLS", () => {
  let directory: string;
  let tls: { cert: Buffer; key: Buffer };
  let certificate: string;

  async function listen(app: ReturnType<typeof express>): Promise<string> {
    const { origin, close } = await serveHost(app);
    closing.push(close);
    return origin;
  }

  async function startTls(trusts: boolean): Promise<string> {
    directory = await temporaryDirectory();
    const paths = await createSelfSigned(directory);
    certificate = paths.certificate;
    tls = { cert: await readFile(certificate), key: await readFile(paths.key) };
    const app = express();
    if (trusts) app.set("trust proxy", 1);
    app.use("/img", mount(site.images));
    const requestHeaders: Spoiling["requestHeaders"] = (headers) => ({
      ...headers,
      "x-forwarded-proto": "https",
      "x-forwarded-for": "203.0.113.7",
    });
    const origin = await listen(app);
    const proxy = await startSpoilingProxy(() => origin, { tls, requestHeaders });
    closing.push(() => proxy.close());
    return `${proxy.origin}/img`;
  }

  /** The command, told to trust the certificate. */
  async function doctorAt(base: string) {
    const env = { NODE_EXTRA_CA_CERTS: certificate };
    const { exit, output } = outrigger(["doctor", base, "--json"], {
      cwd: directory,
      env,
    });
    const code = await exit;
    const report = JSON.parse(output.stdout) as { findings: Finding[] }; // Its shape is what other tests prove.
    return { code, findings: report.findings };
  }

  it("doctor names a self-signed certificate and sends no request", async () => {
    const base = await startTls(true);
    expect(await examine(base)).toEqual([
      {
        check: "mount",
        status: "problem",
        detail: `${base}: its certificate is self-signed`,
        remedy: expect.stringContaining("NODE_EXTRA_CA_CERTS"),
      },
    ]);
  });

  it("doctor names a proxy that the app does not trust", async () => {
    const base = await startTls(false);
    const { code, findings } = await doctorAt(base);
    expect(code).toBe(1);
    expect(findings).toEqual([
      {
        check: "mount",
        status: "problem",
        detail: expect.stringContaining(`${base}: 403 (SSL is required`),
        remedy: expect.stringContaining('Express app.set("trust proxy", 1), Koa app.proxy = true'),
      },
    ]);
  });

  it("doctor finds only an expiring certificate behind a trusted proxy", async () => {
    const base = await startTls(true);
    const { code, findings } = await doctorAt(base);
    expect(amiss(findings)).toEqual([
      {
        check: "certificate",
        status: "warning",
        detail: expect.stringMatching(/^it is valid for [01] days$/),
        remedy: expect.stringContaining("Renew the certificate"),
      },
    ]);
    expect(code).toBe(findings.some(({ status }) => status === "problem") ? 1 : 0);
  });
});
