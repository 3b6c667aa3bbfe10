import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createLookup, createMemoryContactSource } from "@outrigger/core";
import { createSqlAccounts, createSqlSuppressionList, openDatabase } from "@outrigger/sql";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type DnsServer, startDnsServer } from "../support/dns-server.ts";
import { type HostileMailServer, type Peer, startHostileMailServer } from "../support/hostile-mail-server.ts";
import { type StartedProcess, startProcess } from "../support/start-process.ts";

const HOST = new URL("../support/verify-host.mjs", import.meta.url);
const SECRET = "0123456789abcdef0123456789abcdef";
const MINUTE = 60_000;
/** Requests for addresses of one domain. */
const SINGLES = 60;

let directory: string;
let dns: DnsServer;
let mail: HostileMailServer;
const processes = new Set<StartedProcess>();

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "outrigger-verify-"));
  mail = await startHostileMailServer(answerMail, { host: "127.1.0.1" });
  dns = await startDnsServer({
    "d.test": { MX: [[10, "mx.d.test"]] },
    "mx.d.test": { A: ["127.1.0.1"] },
  });
}, MINUTE);

afterAll(async () => {
  for (const each of processes) await each.kill();
  await Promise.all([dns.close(), mail.close()]);
  await rm(directory, { recursive: true, force: true });
});

/** Mailboxes that begin with `here` exist. */
async function answerMail(peer: Peer): Promise<void> {
  peer.send("220 mx.test ESMTP\r\n");
  for (let line = await peer.line(); line !== null && line !== "QUIT"; line = await peer.line()) {
    // A slow server, so that verifications are under way when a process is killed.
    await delay(5);
    const isThere = !line.startsWith("RCPT") || /<(?:here|postmaster)/.test(line);
    peer.send(isThere ? "250 OK\r\n" : "550 5.1.1 No such user\r\n");
  }
  peer.socket.end("221 Bye\r\n");
}

test(
  "requests that were answered 202 are answered by the other node and by the next one after SIGKILL, and counted once",
  async () => {
    const url = `file:${join(directory, "singles.db")}`;
    const key = await createAccount(url);
    const start = async () => {
      const started = await startProcess([HOST, url, dns.address, String(mail.port)]);
      processes.add(started);
      return started;
    };
    const [first, other] = [await start(), await start()];
    const addresses = Array.from({ length: SINGLES }, (_, index) => addressOf(index));
    const ask = (on: StartedProcess, email: string) =>
      fetch(`${on.announced}/v2/email-verifier?email=${email}&max_duration=3&api_key=${key}`);
    const replies = await Promise.all(addresses.map((email) => ask(first, email)));
    const waiting = replies.filter(({ status }) => status === 202);
    expect(waiting.length).toBeGreaterThan(0);
    await first.kill();

    const next = await start();
    const statuses: (string | null)[] = [];
    for (const [index, email] of addresses.entries()) {
      for (let poll = index; ; poll++) {
        const reply = await ask(poll % 2 === 0 ? next : other, email);
        const { data } = (await reply.json()) as { data: { status: string | null } };
        if (reply.status === 200) statuses.push(data.status);
        if (reply.status === 200) break;
        expect(reply.status).toBe(202);
        await delay(500);
      }
    }
    expect(statuses).toEqual(addresses.map((email) => (email.startsWith("here") ? "valid" : "invalid")));
    expect(await used((path, of) => fetch(`${next.announced}${path}?api_key=${of}`), key)).toBe(SINGLES);
    await Promise.all([next.kill(), other.kill()]);
  },
  3 * MINUTE,
);

function addressOf(index: number): string {
  return `${index % 3 === 0 ? "gone" : "here"}.p${index}@d.test`;
}

async function used(ask: (path: string, key: string) => Promise<Response>, key: string): Promise<number> {
  const { data } = (await (await ask("/v2/account", key)).json()) as {
    data: { requests: { verifications: { used: number } } };
  };
  return data.requests.verifications.used;
}

/** @returns the key of a new account. */
async function createAccount(url: string): Promise<string> {
  const database = openDatabase({ url, timeoutMs: 20_000 });
  const lookup = createLookup({
    contacts: createMemoryContactSource({ contacts: [], organizations: {} }),
    accounts: createSqlAccounts(database),
    suppressions: createSqlSuppressionList(database),
    secret: SECRET,
  });
  const { key } = await lookup.createAccount({ plan: "large" });
  await lookup.close();
  await database.close();
  return key;
}
