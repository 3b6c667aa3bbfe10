import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { BackupReport, RestoreReport } from "@outrigger/ops";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask, createLookupPlace, PEOPLE } from "../packages/server/test/lookup-place.ts";
import { outrigger, serve } from "../packages/server/test/outrigger-process.ts";
import { type PostgresServer, startPostgres } from "./support/postgres-server.ts";
import { stockDirectory } from "./support/stocked-directory.ts";

type Place = Awaited<ReturnType<typeof createLookupPlace>>;

let postgres: PostgresServer;

beforeAll(async () => {
  postgres = await startPostgres();
});

afterAll(() => postgres?.close());

/** A place with images, contacts, a key and a suppressed person. */
async function stocked(database?: string): Promise<Place> {
  const place = await createLookupPlace(database);
  await stockDirectory(join(place.cwd, "data"), 2, 500);
  const imported = await place.run("contacts", "import", "people.csv");
  expect(imported).toMatchObject({ code: 0 });
  expect(await place.run("suppress", "eve@other.example")).toMatchObject({ code: 0 });
  return place;
}

async function runIn(place: Place, args: readonly string[], env: Record<string, string> = {}) {
  const { exit, output } = outrigger(args, { cwd: place.cwd, env: { ...place.env, ...env } });
  return { code: await exit, ...output };
}

async function report<T>(
  place: Place,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<T> {
  const { code, stdout, stderr } = await runIn(place, [...args, "--json"], env);
  if (code !== 0) throw new Error(`${args.join(" ")}: ${code}\n${stderr}${stdout}`);
  return JSON.parse(stdout) as T; // What the command promises.
}

/** The lookup of the new directory answers to the old key, and says nothing of those who asked to be left out. */
async function expectPeople(place: Place, key: string, other: Record<string, string>): Promise<void> {
  const { cwd, env } = place;
  const { url, child, exit } = serve(cwd, ["--data", "new"], { ...env, ...other });
  const base = await url;
  const { status, body } = await ask(base, "domain-search", { domain: "acme.example", api_key: key });
  const [ann, bob = "", cy, eve = ""] = PEOPLE.map((line) => line.split(",")[0]);
  expect([status, body.data.emails.map(({ value }) => value).sort()]).toEqual([200, [ann, cy]]);
  for (const email of [bob, eve]) {
    expect((await ask(base, "email-verifier", { email, api_key: key })).status).toBe(451);
  }
  child.kill("SIGTERM");
  expect(await exit).toBe(0);
}

/** Backs up, has another person ask to be left out, restores to another directory and database, and looks who is there. */
async function expectThroughBackup(place: Place, other: Record<string, string>): Promise<void> {
  const { key } = await place.createKey();
  const backup = ["backup", "--to", "file:./backup"];
  const { manifest } = await report<BackupReport>(place, [...backup, "--with-secret"]);
  expect(manifest.lookup).toMatchObject({
    kind: expect.any(String),
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  expect((await place.run("suppress", "bob.ray@acme.example")).code).toBe(0);
  const ends = await place.run("images", "ends");
  expect(ends).toMatchObject({ code: 0, stdout: expect.stringContaining('{"suppressions":["') });
  await writeFile(join(place.cwd, "ends.ndjson"), ends.stdout);

  const restore = ["restore", "--from", "file:./backup", "--data", "new", "--ends", "ends.ndjson"];
  const restored = await report<RestoreReport & { lookup: string }>(place, restore, other);
  expect(restored).toMatchObject({
    restored: 2,
    isComplete: true,
    lookup: expect.stringContaining(" is restored, as of "),
  });
  await expectPeople(place, key, other);
}

describe("backup of the lookup database", () => {
  it("backup restores an embedded database with later suppressions, and copies an unchanged one only once", async () => {
    const place = await stocked();
    const first = await report<BackupReport>(place, ["backup", "--to", "file:./backup"]);
    const again = await report<BackupReport>(place, ["backup", "--to", "file:./backup"]);
    expect(again.manifest.lookup?.key).toBe(first.manifest.lookup?.key);
    await expectThroughBackup(place, { OUTRIGGER_LOOKUP_DATABASE: "file:./new/lookup.db" });
    const living = await runIn(place, ["restore", "--from", "file:./backup", "--data", "new"], {
      OUTRIGGER_LOOKUP_DATABASE: "file:./new/lookup.db",
    });
    expect(living.stdout).toContain("exists and stays unchanged");
    expect((await stat(join(place.cwd, "new", "lookup.db"))).mode & 0o777).toBe(0o600);
    expect(await readFile(join(place.cwd, "new", "secret"))).toEqual(
      await readFile(join(place.cwd, "data", "secret")),
    );
  });

  it("backup restores PostgreSQL by pg_dump and leaves the other tables of the database alone", async () => {
    const place = await stocked(await postgres.createDatabase("before"));
    await postgres.sql("CREATE TABLE orders (id integer); INSERT INTO orders VALUES (1)", "before");
    const other = await postgres.createDatabase("after");
    await postgres.sql("CREATE TABLE orders (id integer)", "after");
    await expectThroughBackup(place, { OUTRIGGER_LOOKUP_DATABASE: other });
    expect(await postgres.sql("SELECT count(*) FROM orders", "after")).toBe("0");
    // What is imported next must not meet numbers that are taken.
    const next = await postgres.sql(
      "SELECT max(id) < nextval('lookup_domains_id_seq') FROM lookup_domains",
      "after",
    );
    expect(next).toBe("t");
  });

  it("without pg_dump backup names the missing command, copies the images, and exits with 1", async () => {
    const place = await createLookupPlace(
      (await postgres.createDatabase("without")).replace("test@", "test:pass@"),
    );
    await stockDirectory(join(place.cwd, "data"), 2, 500);
    const empty = join(place.cwd, "empty");
    await mkdir(empty);
    const { code, stdout, stderr } = await runIn(place, ["backup", "--to", "file:./backup"], { PATH: empty });
    expect(code).toBe(1);
    expect(stdout).toMatch(/ is complete, as of .*\. It has no database of the lookup\./);
    expect(stderr).toContain("pg_dump --format=custom --data-only");
    expect(stderr).not.toContain("pass");
  });
});
