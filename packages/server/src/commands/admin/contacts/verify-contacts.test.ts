import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { type DnsServer, startDnsServer } from "../../../../../../test/support/dns-server.ts";
import { temporaryDirectory } from "../../../../test/outrigger-process.ts";
import { main } from "../../../main.ts";

let cwd: string;
let dns: DnsServer;

beforeEach(async () => {
  cwd = await temporaryDirectory();
  dns = await startDnsServer({
    "here.test": { MX: [[10, "mx.here.test"]] },
    "mx.here.test": { A: ["192.0.2.7"] },
    "none.test": { MX: [[0, "."]] },
  });
  const lookup = {
    database: `file:${join(cwd, "lookup.db")}`,
    secret: "s".repeat(32),
    dnsServers: [dns.address],
  };
  await writeFile(join(cwd, "config.json"), JSON.stringify({ lookup }));
});

afterEach(async () => {
  await dns.close();
  vi.restoreAllMocks();
  process.exitCode = undefined;
});

/** Runs a command in this process. */
async function run(...args: string[]) {
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    vi.spyOn(process[name], "write").mockImplementation((text) => {
      said[name] += String(text);
      return true;
    });
  }
  process.exitCode = undefined;
  await main(["node", "outrigger", ...args, "--config", join(cwd, "config.json")]);
  return { ...said, code: process.exitCode ?? 0 };
}

const verify = (from: string) => run("contacts", "verify", join(cwd, from), join(cwd, "out.csv"));
const verdicts = () => readFile(join(cwd, "out.csv"), "utf8");

it("contacts verify appends a verdict for each address, and skips those that the file has", async () => {
  await run("keys", "create");
  await run("suppress", "gone@here.test");
  await writeFile(
    join(cwd, "in.csv"),
    "Name;E-Mail\nAda;ada@none.test\nBo;Bo@Here.test\nCy;cy@@here.test\nDi;\nGone;gone@here.test\nAda;ADA@none.test\n",
  );
  const first = await verify("in.csv");
  expect([first.code, first.stdout]).toEqual([
    0,
    "3 addresses verified; skipped: 1 present already, 1 suppressed, 1 without an address.\n",
  ]);
  expect(first.stderr).toContain("lookup.smtp is not set");
  const [header = "", ...rows] = (await verdicts()).trimEnd().split("\r\n");
  expect(header).toMatch(/^email,result,status,score,/);
  const of = (email: string) =>
    rows
      .find((row) => row.startsWith(`${email},`))
      ?.split(",")
      .slice(1, 4);
  expect(rows).toHaveLength(3);
  expect(of("ada@none.test")).toEqual(["undeliverable", "invalid", "0"]);
  expect(of("cy@@here.test")).toEqual(["undeliverable", "invalid", "0"]);
  expect(of("Bo@Here.test")?.slice(0, 2)).toEqual(["risky", "unknown"]);

  // A killed run leaves a part of a line.
  await writeFile(join(cwd, "out.csv"), `${(await verdicts()).trimEnd()}\r\neve@here.test,ris`);
  await writeFile(join(cwd, "more.csv"), "email\neve@here.test\nbo@here.test\n");
  const second = await verify("more.csv");
  expect(second.stdout).toMatch(/^1 addresses verified; skipped: 1 present already/);
  expect((await verdicts()).match(/^eve@here\.test,risky,unknown/gm)).toHaveLength(1);
  expect((await verdicts()).trimEnd().split("\r\n")).toHaveLength(5);
});

it("contacts verify keeps a file that has no verdicts, and names a missing file and database", async () => {
  await writeFile(join(cwd, "in.csv"), "email\nada@none.test\n");
  expect((await verify("in.csv")).stderr).toContain("There is no lookup database");
  await run("keys", "create");
  expect(await verify("absent.csv")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("absent.csv cannot be read: there is no such file"),
  });
  await writeFile(join(cwd, "out.csv"), "notes of mine");
  expect(await verify("in.csv")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("out.csv cannot be used: it has no verdicts"),
  });
  expect(await verdicts()).toBe("notes of mine");
});
