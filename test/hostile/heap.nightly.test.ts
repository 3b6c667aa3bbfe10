// Nightly: fills processes with a small heap for minutes.
import { mkdtemp, rm } from "node:fs/promises";
import { type IncomingHttpHeaders, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type StartedProcess, startProcess } from "../support/start-process.ts";
import { costlyLists, type ListBody } from "./list-bodies.ts";

const HOST = new URL("../support/heap-host.mjs", import.meta.url);
/** V8's default in a container of 512 MB. */
const HEAP = "--max-old-space-size=256";
/** Generous, because other tests share the machine. A list that is parsed in one piece takes seconds. */
const LONGEST_DELAY_MS = 500;
const LISTS = "/v2/email-verifications";
const SMALL = Buffer.from('{"emails":["ada@a.example"]}');

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
  /** Pieces in which the body is sent, 20 ms apart. @default 1 */
  pieces?: number;
  localAddress?: string;
}

/** Sends a request on a connection of its own. A connection that ends while the body is sent may still have an answer. */
function send(
  path: string,
  { method = "POST", headers, body = SMALL, pieces = 1, ...from }: Sent,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(host.announced + path, {
      ...{ method, agent: false, ...from },
      headers: { "User-Agent": "Test/1.0", "Content-Length": body.length, ...headers },
    });
    outgoing.on("response", async (response) => {
      let text = "";
      for await (const chunk of response.setEncoding("utf8")) text += chunk;
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
      outgoing.destroy();
    });
    outgoing.on("error", reject);
    void (async () => {
      const size = Math.ceil(body.length / pieces);
      for (let start = 0; start < body.length; start += size) {
        if (start > 0) await delay(20);
        if (outgoing.destroyed) return;
        outgoing.write(body.subarray(start, start + size));
      }
      outgoing.end();
    })();
  });
}

const keyOf = async () => (await send("/key", { method: "GET", body: Buffer.alloc(0) })).text;
const longestDelay = async () =>
  Number((await send("/delay", { method: "GET", body: Buffer.alloc(0) })).text);

const sendList = (key: string, { type, body }: { type: ListBody["type"]; body: Buffer }, from: Sent = {}) =>
  send(LISTS, { ...from, body, headers: { "X-API-KEY": key, "Content-Type": type } });

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

/** Sends a list four times at once for two accounts, and a small list for another one. */
async function sendFour(list: ListBody): Promise<void> {
  const [key, another, other] = [await keyOf(), await keyOf(), await keyOf()];
  const costly = { type: list.type, body: list.body() };
  const sending = Promise.all([key, key, another, another].map((each) => sendList(each, costly)));
  const small = await sendList(other, { type: "application/json", body: SMALL });
  for (const { status, text } of await sending) {
    expect([...list.statuses, 503], `${list.name}: ${text}`).toContain(status);
  }
  expect([202, 503], small.text).toContain(small.status);
  expect(host.isAlive(), list.name).toBe(true);
}

/** Requests of every other kind with a body or a query, and the statuses that they may get. */
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
  test("each list over a bound is refused, also four at once, and others are served meanwhile", () =>
    withHost(async () => {
      for (const list of costlyLists()) if (!list.statuses.includes(202)) await sendFour(list);
    }));

  test.each(costlyLists().filter(({ statuses }) => statuses.includes(202)))(
    "a costly list of $name is kept or refused for lack of room, also four at once, and others are served meanwhile",
    (list) => withHost(() => sendFour(list)),
  );

  test("lists that arrive slowly from many clients neither block a list of another account nor fill the memory", () =>
    withHost(async () => {
      const body = Buffer.from(`email,c\n${`a@a.example,ü${"z".repeat(4000)}字\n`.repeat(3000)}`);
      const slow: Promise<Answer>[] = [];
      for (let client = 0; client < 16; client++) {
        slow.push(sendList(await keyOf(), { type: "text/csv", body }, { pieces: 150 }));
      }
      const key = await keyOf();
      for (let count = 0; count < 10; count++) {
        const answer = await sendList(key, { type: "application/json", body: SMALL });
        expect(answer.status, answer.text).toBe(202);
      }
      for (const { status } of await Promise.all(slow)) expect([202, 503]).toContain(status);
    }));

  test("25 lists of long rows of one account are kept up to its bound, and then refused with 429", () =>
    withHost(async () => {
      const key = await keyOf();
      const body = Buffer.from(`email,c,d\n${`x0@y.example,${"z".repeat(4000)},q\n`.repeat(3800)}`);
      const statuses = [];
      for (let count = 0; count < 25; count++) {
        statuses.push((await sendList(key, { type: "text/csv", body })).status);
      }
      expect(statuses.slice(0, 2)).toEqual([202, 202]);
      expect(new Set(statuses.slice(3))).toEqual(new Set([429]));
      const others = { type: "application/json", body: SMALL } as const;
      expect((await sendList(await keyOf(), others)).status).toBe(202);
    }));

  test("no other body and no query of a stranger ends the process", () =>
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
