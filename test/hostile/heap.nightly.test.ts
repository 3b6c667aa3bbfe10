// Nightly: fills processes with a small heap for minutes.
import { mkdtemp, rm } from "node:fs/promises";
import { type IncomingHttpHeaders, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type StartedProcess, startProcess } from "../support/start-process.ts";

const HOST = new URL("../support/heap-host.mjs", import.meta.url);
/** V8's default in a container of 512 MB. */
const HEAP = "--max-old-space-size=256";
/** Generous, because other tests share the machine. A body that is parsed in one piece takes seconds. */
const LONGEST_DELAY_MS = 500;

let directory: string;
let host: StartedProcess;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "outrigger-heap-"));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

interface Sent {
  method?: string;
  headers?: Record<string, string>;
  body?: Buffer;
}

/** Sends a request on a connection of its own. A connection that ends while the body is sent may still have an answer. */
function send(path: string, { method = "POST", headers, body = Buffer.alloc(0) }: Sent): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(host.announced + path, {
      ...{ method, agent: false },
      headers: { "User-Agent": "Test/1.0", "Content-Length": body.length, ...headers },
    });
    outgoing.on("response", async (response) => {
      let text = "";
      for await (const chunk of response.setEncoding("utf8")) text += chunk;
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
      outgoing.destroy();
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

const longestDelay = async () =>
  Number((await send("/delay", { method: "GET", body: Buffer.alloc(0) })).text);

/** Runs work in a new process with a small heap. Asserts that the process lives, and never stopped serving. */
async function withHost(work: () => Promise<void>): Promise<void> {
  host = await startProcess([HEAP, HOST, directory]);
  try {
    await longestDelay();
    await work();
    expect(host.isAlive()).toBe(true);
    expect(await longestDelay()).toBeLessThan(LONGEST_DELAY_MS);
  } finally {
    await host.kill();
  }
}

const JSON_TYPE = { "Content-Type": "application/json" };
const FORM_TYPE = { "Content-Type": "multipart/form-data; boundary=x" };
const part = (head: string, body = "") => `--x\r\nContent-Disposition: form-data; ${head}\r\n\r\n${body}\r\n`;
const repeated = (unit: string, bytes: number) => unit.repeat(Math.ceil(bytes / unit.length));

/** Requests with a body or a query, and the statuses that they may get. */
const OTHERS: [name: string, path: string, sent: Sent, statuses: number[]][] = [
  [
    "many fields",
    "/img/api/images.json",
    { headers: FORM_TYPE, body: Buffer.from(repeated(part('name="a"'), 2e7)) },
    [400],
  ],
  [
    "many files",
    "/img/api/images.json",
    { headers: FORM_TYPE, body: Buffer.from(repeated(part('name="imagedata"; filename="a"', "a"), 2e7)) },
    [400, 415],
  ],
  [
    "a large field",
    "/img/api/images.json",
    { headers: FORM_TYPE, body: Buffer.from(part('name="name"', repeated("a", 2e7))) },
    [400, 413],
  ],
  [
    "a long field name",
    "/img/api/images.json",
    { headers: FORM_TYPE, body: Buffer.from(part(`name="${repeated("a", 2e7)}"`)) },
    [400, 413],
  ],
  [
    "many headers of a part",
    "/img/api/images.json",
    { headers: FORM_TYPE, body: Buffer.from(`--x\r\n${repeated("a: b\r\n", 2e7)}`) },
    [400, 413],
  ],
  [
    "a form without a part",
    "/img/api/images.json",
    { headers: FORM_TYPE, body: Buffer.from(repeated("--", 2e7)) },
    [400, 413],
  ],
  [
    "an import of deep JSON",
    "/img/api/images.json",
    { headers: JSON_TYPE, body: Buffer.from("[".repeat(2e7)) },
    [413],
  ],
  [
    "an import of JSON within its limit",
    "/img/api/images.json",
    { headers: JSON_TYPE, body: Buffer.from(`{"url":${"[".repeat(16_000)}`) },
    [400],
  ],
  [
    "a change with deep JSON",
    `/img/api/images/${"A".repeat(22)}.json`,
    { method: "PATCH", headers: JSON_TYPE, body: Buffer.from(repeated('{"a":', 16_000)) },
    [400, 404],
  ],
  [
    "a change with a large body",
    `/img/api/images/${"A".repeat(22)}.json`,
    { method: "PATCH", headers: JSON_TYPE, body: Buffer.from(repeated(" ", 2e7)) },
    [404, 413],
  ],
  [
    "a read with a large body",
    `/img/api/images/${"A".repeat(22)}.json`,
    { method: "GET", headers: JSON_TYPE, body: Buffer.from(repeated("{}", 2e7)) },
    [404, 413],
  ],
  [
    "a look-up with a large body",
    "/v2/email-count?domain=a.example",
    { method: "GET", headers: JSON_TYPE, body: Buffer.from(repeated("{}", 2e7)) },
    [200],
  ],
  [
    "a look-up with a long query",
    `/v2/email-verifier?api_key=test-api-key&${repeated("email=%C3%BC&", 15_000)}`,
    { method: "GET", body: Buffer.alloc(0) },
    [200, 202, 400, 431],
  ],
  [
    "a read with a long query",
    `/img/api/images/${"A".repeat(22)}.png?${repeated("resize=1x1&", 15_000)}`,
    { method: "GET", body: Buffer.alloc(0) },
    [400, 404, 431],
  ],
];

describe("with a heap of 256 MB", { timeout: 240_000 }, () => {
  test("no body and no query of a stranger ends the process", () =>
    withHost(async () => {
      for (const [name, path, sent, statuses] of OTHERS) {
        // A connection may end before all of a refused body was sent.
        const answers = Array.from({ length: 4 }, () => send(path, sent).catch(() => null));
        for (const answer of await Promise.all(answers)) {
          if (answer !== null)
            expect(statuses, `${name}: ${answer.text.slice(0, 200)}`).toContain(answer.status);
        }
        expect(host.isAlive(), name).toBe(true);
      }
    }));
});
