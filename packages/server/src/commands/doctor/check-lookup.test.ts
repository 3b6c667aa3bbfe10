import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createSqlVerificationQueue, openDatabase } from "@outrigger/sql";
import { afterEach, describe, expect, it } from "vitest";
import { type DnsServer, startDnsServer } from "../../../../../test/support/dns-server.ts";
import { temporaryDirectory } from "../../../test/outrigger-process.ts";
import { checkLookup } from "./check-storage.ts";

const servers = new Set<DnsServer>();

afterEach(async () => {
  for (const server of servers) await server.close();
  servers.clear();
});

describe("checkLookup", () => {
  it("reports a database that can be created, and does not create it", async () => {
    const directory = await temporaryDirectory();
    const path = join(directory, "below", "lookup.db");
    expect(await checkLookup({ database: { kind: "file", path } })).toEqual([
      { check: "lookup database", status: "ok", detail: `file:${path}` },
    ]);
    expect(await readdir(directory)).toEqual([]);
  });

  it("reports a file that is not a database", async () => {
    const directory = await temporaryDirectory();
    const path = join(directory, "lookup.db");
    await writeFile(path, "x".repeat(5000));
    expect(await checkLookup({ database: { kind: "file", path } })).toMatchObject([
      {
        status: "problem",
        detail: expect.stringContaining("The database file is damaged or not a database"),
      },
    ]);
    await mkdir(join(directory, "directory"));
    expect(
      await checkLookup({ database: { kind: "file", path: join(directory, "directory") } }),
    ).toMatchObject([{ status: "problem" }]);
  });

  it("warns of events of lists that were given up, and of events that wait for more than an hour", async () => {
    const path = join(await temporaryDirectory(), "lookup.db");
    const database = openDatabase({ url: `file:${path}` });
    await database.ready();
    const queue = createSqlVerificationQueue(database);
    const at = Date.now() - 2 * 3_600_000;
    const end = { at, state: "{}" };
    const row = { email: "a", subject: null, columns: null, result: "{}" };
    for (const id of ["first", "second"]) {
      const list = { id, account: null, plan: "free", header: null, createdAt: at };
      expect(await queue.add(list, [row], null, undefined, end)).toBe(true);
    }
    const findings = () => checkLookup({ database: { kind: "file", path } });
    const [taken] = await queue.takeEnds(1, 1000, at);
    if (taken === undefined) throw new Error("No event is due");
    await queue.settleEnd(taken, { state: "{}", dueMs: null, isDead: true });
    expect((await findings()).slice(1)).toEqual([
      {
        check: "lookup events",
        status: "warning",
        detail: `events of 1 lists were given up in the last 30 days, and events of 1 lists wait, the oldest since ${new Date(at).toISOString()}`,
        remedy: expect.stringContaining("lookup.webhooks"),
      },
    ]);
    await database.close();
  });

  it("resolves the name for mail servers by DNS only", async () => {
    const dns = await startDnsServer({ "mail.acme.example": { A: ["192.0.2.7"], AAAA: ["2001:db8::7"] } });
    servers.add(dns);
    const path = join(await temporaryDirectory(), "lookup.db");
    const lookup = (helo: string) => ({
      database: { kind: "file", path } as const,
      smtp: { helo, mailFrom: "" },
      dnsServers: [dns.address],
    });
    const [, known] = await checkLookup(lookup("mail.acme.example"));
    expect(known).toMatchObject({
      status: "ok",
      detail: expect.stringMatching(/^mail\.acme\.example is 192\.0\.2\.7 and 2001:db8::7; .*port 25/),
    });
    const [, unknown] = await checkLookup(lookup("none.acme.example"));
    expect(unknown).toMatchObject({ check: "mail probing", status: "warning" });
  });
});
