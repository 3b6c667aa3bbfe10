import type { ServerResponse } from "node:http";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { acceptAll, createFakeRenderer } from "@outrigger/testing";
import { expect, test } from "vitest";
import { PNG } from "../../../test/calls.ts";
import { createSite, type ImageSite, type SiteOptions } from "../../../test/image-site.ts";
import { createRemoteSite } from "../../../test/remote-site.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";
import { createImportGate, importUrl, parseImportUrl } from "../library/import-url.ts";

/** A service, and a server whose files at `/slow` never end. */
async function start(options: SiteOptions = {}) {
  const held: ServerResponse[] = [];
  const server = await (await createRemoteSite()).serve((req, res) => {
    if (req.url !== "/slow") return void res.end(PNG);
    held.push(res);
    res.write(PNG.subarray(0, 4));
  });
  const internalHosts = [`127.0.0.1:${server.port}`];
  const given = { renderer: createFakeRenderer(acceptAll), importUrls: { internalHosts }, ...options };
  const importFrom = (site: ImageSite, clientIp: string, path: string) =>
    site.send("POST", "/api/images.json", {
      fields: { url: `http://127.0.0.1:${server.port}${path}` },
      clientIp,
    });
  const open = () => held.filter(({ destroyed }) => !destroyed).length;
  return { held, open, given, internalHosts, importFrom, site: createSite(given) };
}

const poll = <T>(read: () => T) => expect.poll(read);

test("four clients whose imports last for ever do not stop those of others: each loses its newest", async () => {
  const { site, importFrom, open, held } = await start();
  const greedy = Array.from({ length: 64 }, (_, index) => importFrom(site, `192.0.2.${index % 4}`, "/slow"));
  await poll(open).toBe(64);
  for (let count = 0; count < 5; count++) {
    expect((await importFrom(site, "198.51.100.9", "/ok.png")).status).toBe(201);
  }
  // Only what other clients need is taken back.
  expect(open()).toBe(63);
  for (const response of held) response.end(PNG.subarray(4));
  const statuses = (await Promise.all(greedy)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 503)).toHaveLength(1);
  expect(statuses.filter((status) => status === 201)).toHaveLength(63);
});

test("the addresses of an IPv6 /48 are one client, so they do not hold all places", async () => {
  const { site, importFrom, open, held } = await start();
  const greedy = Array.from({ length: 64 }, (_, index) =>
    importFrom(site, `2001:db8:1:${index}::1`, "/slow"),
  );
  await poll(open).toBe(64);
  for (let count = 0; count < 3; count++) {
    expect((await importFrom(site, `198.51.100.${count}`, "/ok.png")).status).toBe(201);
  }
  for (const response of held) response.end(PNG.subarray(4));
  await Promise.all(greedy);
});

test("an import for which there is no place answers 503 and costs no create", async () => {
  const { site, importFrom, open, held } = await start({
    ...{ uploadIdleMs: 4000, rateLimits: { creates: 2 } },
  });
  // A server that sends nothing for `uploadIdleMs`, or little, would lose its place.
  const drip = setInterval(() => {
    for (const response of held) response.write(".".repeat(4096));
  }, 500);
  try {
    const greedy = Array.from({ length: 64 }, (_, index) => importFrom(site, `192.0.2.${index}`, "/slow"));
    await poll(open).toBe(64);
    for (const count of [2, 2]) {
      const refused = Array.from({ length: count }, () => importFrom(site, "198.51.100.9", "/ok.png"));
      for (const { status, headers } of await Promise.all(refused)) {
        expect([status, headers["Retry-After"]]).toEqual([503, "5"]);
      }
    }
    for (const response of held) response.end(PNG.subarray(4));
    await Promise.all(greedy);
  } finally {
    clearInterval(drip);
  }
  const answer = await importFrom(site, "198.51.100.9", "/ok.png");
  expect([answer.status, answer.headers.RateLimit]).toEqual([201, expect.stringMatching(/;r=1;/)]);
});

test("each service has places of its own", async () => {
  const { site, given, importFrom, open, held } = await start({ uploadIdleMs: 5000 });
  const greedy = Array.from({ length: 64 }, (_, index) => importFrom(site, `192.0.2.${index}`, "/slow"));
  await poll(open).toBe(64);
  const another = createSite(given);
  expect((await importFrom(another, "192.0.2.1", "/ok.png")).status).toBe(201);
  for (const response of held) response.end(PNG.subarray(4));
  await Promise.all(greedy);
});

test("a file that arrives slower than 1024 bytes per second on average ends after 5 s with 400", async () => {
  const logged: unknown[] = [];
  const logger = { info: (...line: unknown[]) => logged.push(line), warn() {}, error() {} };
  const { site, importFrom, open, held } = await start({ logger });
  const sending = importFrom(site, "192.0.2.1", "/slow");
  await poll(open).toBe(1);
  const drip = setInterval(() => held[0]?.write("."), 100);
  try {
    expect((await sending).status).toBe(400);
  } finally {
    clearInterval(drip);
  }
  expect(JSON.stringify(logged)).toContain("less than 1024 bytes per second on average");
  await poll(open).toBe(0);
});

test("an import ends after its time limit with bad_request, also when memory was collected meanwhile", async () => {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  const { internalHosts, open, held } = await start();
  const settings = {
    ...{ importPolicy: { ports: [80], internalHosts }, maxUploadBytes: 1e6, uploadIdleMs: 4000 },
    log: { info() {}, warn() {}, error() {} },
  };
  const context = { originals: createMemoryBlobStore(), imports: createImportGate(), settings };
  const sending = importUrl(context, parseImportUrl(`http://${internalHosts[0]}/slow`, context), {
    ...{ declaredType: "image/png", client: "a", signal: new AbortController().signal, timeoutMs: 1500 },
  });
  await poll(open).toBe(1);
  const drip = setInterval(() => {
    held[0]?.write(".");
    collect();
  }, 100);
  try {
    await expect(sending).rejects.toMatchObject({
      code: "bad_request",
      message: expect.stringContaining("within 1.5 seconds"),
    });
  } finally {
    clearInterval(drip);
  }
  await poll(open).toBe(0);
});
