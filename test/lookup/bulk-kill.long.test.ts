import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createLookup, createMemoryContactSource } from "@outrigger/core";
import { createSqlAccounts, createSqlSuppressionList, openDatabase } from "@outrigger/sql";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type DnsServer, startDnsServer } from "../support/dns-server.ts";
import { type HostileMailServer, type Peer, startHostileMailServer } from "../support/hostile-mail-server.ts";
import { type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { amount } from "../support/soak.ts";
import { type StartedProcess, startProcess } from "../support/start-process.ts";

const HOST = new URL("../support/bulk-host.mjs", import.meta.url);
const SECRET = "0123456789abcdef0123456789abcdef";
/** Lines of a list; 100,000 is the maximum. */
const LINES = amount(1100, 100_000);
/** Different addresses: every tenth one is on the list twice. */
const ROWS = Math.floor((LINES * 10) / 11);
const KILLS = amount(2, 10);
/** Each has a mail host of its own. */
const DOMAINS = 200;
/** The monthly allowance of the plan `small`, and the rows of its list. */
const [ALLOWED, SMALL_ROWS] = [300, 400];
const MINUTE = 60_000;
/** Requests for addresses of one domain. */
const SINGLES = 60;

let directory: string;
let postgres: PostgresServer;
let dns: DnsServer;
let mail: HostileMailServer;
const processes = new Set<StartedProcess>();

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "outrigger-bulk-"));
  postgres = await startPostgres();
  // One server answers for all addresses of the loopback, each the host of one domain.
  mail = await startHostileMailServer(answerMail, { host: "0.0.0.0" });
  dns = await startDnsServer(
    Object.fromEntries(
      Array.from({ length: DOMAINS }, (_, index) => index).flatMap((index) => [
        [`d${index}.test`, { MX: [[10, `mx.d${index}.test`]] as const }],
        [`mx.d${index}.test`, { A: [`127.1.${Math.floor(index / 100)}.${1 + (index % 100)}`] }],
      ]),
    ),
  );
}, MINUTE);

afterAll(async () => {
  for (const each of processes) await each.kill();
  await Promise.all([dns.close(), mail.close(), postgres.close()]);
  await rm(directory, { recursive: true, force: true });
});

/** Mailboxes that begin with `here` exist. */
async function answerMail(peer: Peer): Promise<void> {
  peer.send("220 mx.test ESMTP\r\n");
  for (let line = await peer.line(); line !== null && line !== "QUIT"; line = await peer.line()) {
    // A slow server, so that rows are under way when a process is killed.
    await delay(5);
    const isThere = !line.startsWith("RCPT") || /<(?:here|postmaster)/.test(line);
    peer.send(isThere ? "250 OK\r\n" : "550 5.1.1 No such user\r\n");
  }
  peer.socket.end("221 Bye\r\n");
}

interface Result {
  email: string;
  status: string | null;
  result: string | null;
}

interface List {
  data: { id: string; total: number; done: number; status: string; results: Result[] };
}

describe.each([
  ["an embedded database", async () => `file:${join(directory, "lookup.db")}`],
  ["PostgreSQL", () => postgres.createDatabase("bulk")],
])("a list in %s", (_, createUrl) => {
  test(`of ${LINES} rows is answered once and counted once while its processes are killed ${KILLS} times`, async () => {
    const url = await createUrl();
    const [large, small] = [await createAccount(url, "large"), await createAccount(url, "small")];
    const start = async () => {
      const started = await startProcess([HOST, url, dns.address, String(mail.port)]);
      processes.add(started);
      return started;
    };
    let running = [await start(), await start()];
    const ask = async (path: string, key: string, init: RequestInit = {}): Promise<Response> => {
      const separator = path.includes("?") ? "&" : "?";
      return fetch(`${running[0]?.announced}${path}${separator}api_key=${key}`, init);
    };
    const rows = Array.from({ length: ROWS }, (_, index) => addressOf(index));
    // Every tenth address comes twice, in another spelling.
    const csv = rows.flatMap((email, index) => [
      `${email},${index}`,
      ...(index % 10 === 0 ? [`${email.toUpperCase()},${index} again`] : []),
    ]);
    const headers = { "Content-Type": "text/csv" };
    const body = `email,note\n${csv.join("\n")}\n`;
    const added = await ask("/v2/email-verifications", large, { method: "POST", headers, body });
    expect(added.status).toBe(202);
    const { data } = (await added.json()) as List;
    expect(data.total).toBe(csv.length);
    const smallBody = JSON.stringify({
      emails: Array.from({ length: SMALL_ROWS }, (_, index) => `here.s${index}@d${index % DOMAINS}.test`),
    });
    const json = { method: "POST", headers: { "Content-Type": "application/json" }, body: smallBody };
    const listed = (await (await ask("/v2/email-verifications", small, json)).json()) as List;

    const done = async (id: string, key: string) => {
      const list = (await (await ask(`/v2/email-verifications/${id}?limit=1`, key)).json()) as List;
      return list.data.done;
    };
    for (let kill = 1; kill <= KILLS; kill++) {
      const until = Math.floor((csv.length * kill) / (KILLS + 2));
      while ((await done(data.id, large)) < until) await delay(10);
      // In turn the process that received the list, and the other one.
      const [victim, survivor] = kill % 2 === 0 ? [...running].reverse() : running;
      await victim?.kill();
      running = [...(survivor === undefined ? [] : [survivor]), await start()];
    }
    while ((await done(data.id, large)) < csv.length) await delay(200);
    while ((await done(listed.data.id, small)) < SMALL_ROWS) await delay(200);

    const results: Result[] = [];
    for (let offset = 0; offset < csv.length; offset += 1000) {
      const page = await ask(`/v2/email-verifications/${data.id}?offset=${offset}&limit=1000`, large);
      results.push(...((await page.json()) as List).data.results);
    }
    const expected = csv.map((line) => {
      const [email = ""] = line.split(",");
      return [email, /^here/i.test(email) ? "valid" : "invalid"];
    });
    expect(results.map(({ email, status }) => [email, status])).toEqual(expected);
    expect(await used(ask, large)).toBe(ROWS);

    const page = (await (
      await ask(`/v2/email-verifications/${listed.data.id}?limit=1000`, small)
    ).json()) as List;
    const count = (status: string) => page.data.results.filter((each) => each.status === status).length;
    expect([count("valid"), count("not_paid")]).toEqual([ALLOWED, SMALL_ROWS - ALLOWED]);
    expect(await used(ask, small)).toBe(ALLOWED);
    const table = await (await ask(`/v2/email-verifications/${data.id}.csv`, large)).text();
    expect(table.split("\r\n")).toHaveLength(csv.length + 2);
    for (const each of running) await each.kill();
  });
});

test(
  "single requests that were answered 202 are answered and counted once by the next process after SIGKILL",
  async () => {
    const url = `file:${join(directory, "singles.db")}`;
    const key = await createAccount(url, "large");
    const start = async () => {
      const started = await startProcess([HOST, url, dns.address, String(mail.port), "50"]);
      processes.add(started);
      return started;
    };
    const first = await start();
    const addresses = Array.from({ length: SINGLES }, (_, index) => addressOf(index * DOMAINS));
    const ask = (on: StartedProcess, email: string) =>
      fetch(`${on.announced}/v2/email-verifier?email=${email}&max_duration=3&api_key=${key}`);
    const replies = await Promise.all(addresses.map((email) => ask(first, email)));
    const waiting = replies.filter(({ status }) => status === 202);
    expect(waiting.length).toBeGreaterThan(0);
    await first.kill();

    const next = await start();
    const statuses: (string | null)[] = [];
    for (const email of addresses) {
      for (;;) {
        const reply = await ask(next, email);
        const { data } = (await reply.json()) as { data: { status: string | null } };
        if (reply.status === 200) statuses.push(data.status);
        if (reply.status === 200) break;
        expect(reply.status).toBe(202);
        await delay(500);
      }
    }
    expect(statuses).toEqual(addresses.map((email) => (email.startsWith("here") ? "valid" : "invalid")));
    expect(await used((path, of) => fetch(`${next.announced}${path}?api_key=${of}`), key)).toBe(SINGLES);
    await next.kill();
  },
  3 * MINUTE,
);

function addressOf(index: number): string {
  return `${index % 3 === 0 ? "gone" : "here"}.p${index}@d${index % DOMAINS}.test`;
}

async function used(ask: (path: string, key: string) => Promise<Response>, key: string): Promise<number> {
  const { data } = (await (await ask("/v2/account", key)).json()) as {
    data: { requests: { verifications: { used: number } } };
  };
  return data.requests.verifications.used;
}

/** @returns the key of a new account. */
async function createAccount(url: string, plan: string): Promise<string> {
  const database = openDatabase({ url, timeoutMs: 20_000 });
  const lookup = createLookup({
    contacts: createMemoryContactSource({ contacts: [], organizations: {} }),
    accounts: createSqlAccounts(database),
    suppressions: createSqlSuppressionList(database),
    secret: SECRET,
    verifyAtOnce: 0,
  });
  const { key } = await lookup.createAccount({ plan });
  await lookup.close();
  await database.close();
  return key;
}
