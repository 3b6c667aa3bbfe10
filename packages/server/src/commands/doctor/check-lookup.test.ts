import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
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
