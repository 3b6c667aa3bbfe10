import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { command } from "../../packages/server/test/lookup-place.ts";
import { temporaryDirectory } from "../../packages/server/test/outrigger-process.ts";
import {
  createSqlContactSource,
  createSqlSuppressionList,
  putContacts,
  type SqlDatabase,
} from "../../packages/sql/src/index.ts";
import { onEachDatabase } from "../../packages/sql/test/each-database.ts";
import { refusalOf } from "./ask.ts";
import { type LookupSite, startLookupSite } from "./lookup-site.ts";
import { ADA, crowdOf, GRACE, PEOPLE } from "./people.ts";

const SECRET = "the secret of app and command, 32+";
const OTHER = "another secret, also of 32 bytes..";
const ADA_QUERY = "domain=example.com&first_name=Ada&last_name=Lovelace";

/** A table that contains Ada and Grace. */
const CSV = `email,first_name,last_name\n${ADA.address},Ada,Lovelace\n${GRACE.address},Grace,Hopper\n`;

onEachDatabase(({ createUrl, open }) => {
  async function withApp(
    database: SqlDatabase,
    body: (app: LookupSite) => Promise<void>,
    secret: string | string[] = SECRET,
  ): Promise<void> {
    const app = await startLookupSite({
      contacts: createSqlContactSource(database),
      suppressions: createSqlSuppressionList(database),
      plans: { free: { searches: false, verifications: false } },
      secret,
    });
    try {
      await body(app);
    } finally {
      await app.close();
    }
  }

  /** Runs a command beside an app: on its database, in another directory. */
  async function place(url: string, secret: Record<string, string>) {
    const cwd = await temporaryDirectory();
    await writeFile(join(cwd, "people.csv"), CSV);
    return {
      cwd,
      run: (...args: string[]) => command(cwd, args, { OUTRIGGER_LOOKUP_DATABASE: url, ...secret }),
    };
  }

  test("a running app no longer returns a person whom the command suppresses", async () => {
    const url = await createUrl();
    const database = open(url);
    await putContacts(database, [...PEOPLE, ...crowdOf("crowd.example", 3)]);
    await withApp(database, async (app) => {
      expect((await app.get("email-finder", ADA_QUERY)).body.data).toMatchObject({ email: ADA.address });
      const { run } = await place(url, { OUTRIGGER_SECRET: SECRET });
      const { code, stderr } = await run("suppress", ADA.address, "crowd.example");
      expect(code).toBe(0);
      // The record of erasures has no address.
      expect(stderr.match(/"erasure":\{"at":"[^"]+","count":\d+,"hmac":"[^"]+"\}/g)).toHaveLength(2);
      expect(stderr).not.toContain(ADA.address);
      // Imported again without the service.
      await putContacts(database, [...PEOPLE, ...crowdOf("crowd.example", 3)]);
      const refused = [
        ["email-finder", ADA_QUERY, 451, "claimed_email"],
        ["email-verifier", `email=${ADA.address}`, 451, "claimed_email"],
        ["email-finder", "domain=crowd.example&full_name=Al%20Po", 400, "invalid_domain"],
        ["email-verifier", "email=p001@crowd.example", 400, "invalid_domain"],
        ["domain-search", "domain=crowd.example", 400, "invalid_domain"],
        ["email-count", "domain=crowd.example", 400, "invalid_domain"],
      ] as const;
      for (const [operation, search, ...refusal] of refused) {
        expect(refusalOf(await app.get(operation, search)), `${operation}?${search}`).toEqual(refusal);
      }
      const { body } = await app.get("domain-search", "domain=example.com");
      expect(JSON.stringify(body)).toContain(GRACE.address);
      expect(JSON.stringify(body)).not.toContain(ADA.address);
      expect(app.errors).toEqual([]);
    });
  });

  test("the command neither imports nor exports a person whom the app suppressed", async () => {
    const url = await createUrl();
    const database = open(url);
    await withApp(database, async (app) => {
      await app.lookup.suppress(ADA.address);
    });
    const { cwd, run } = await place(url, { OUTRIGGER_SECRET_FILE: "secrets" });
    await writeFile(join(cwd, "secrets"), `${OTHER}\n${SECRET}\n`);
    const imported = await run("contacts", "import", "people.csv", "--json");
    expect(JSON.parse(imported.stdout || imported.stderr)).toMatchObject({ added: 1, suppressed: 1 });
    // The state after an import by a command that did not know of the suppression.
    await putContacts(open(url), PEOPLE);
    const { stdout } = await run("contacts", "export");
    expect(stdout).toContain(GRACE.address);
    expect(stdout).not.toContain(ADA.address);
  });

  test("app and command refuse to run with another secret, and name the setting", async () => {
    const url = await createUrl();
    await withApp(open(url), (app) => app.lookup.suppress(ADA.address));
    // A secret generated in a directory is not the one of an app's entries.
    const own = await place(url, {});
    await mkdir(join(own.cwd, "data"), { mode: 0o700 });
    await writeFile(join(own.cwd, "data", "secret"), randomBytes(32), { mode: 0o600 });
    expect(await own.run("suppress", "grace.hopper@example.com")).toEqual({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("Set lookup.secret or OUTRIGGER_SECRET to the secret of the app"),
    });
    await withApp(open(url), async (app) => {
      expect(refusalOf(await app.get("email-finder", ADA_QUERY))).toEqual([451, "claimed_email"]);
    });
    const wrong = await place(url, { OUTRIGGER_SECRET: OTHER });
    expect(await wrong.run("contacts", "export")).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("were made with another secret"),
    });
    await withApp(
      open(url),
      async (app) => {
        for (const operation of ["email-finder", "domain-search", "email-count"]) {
          expect(refusalOf(await app.get(operation, ADA_QUERY))).toEqual([503, "unavailable"]);
        }
        expect(app.errors).toEqual([expect.objectContaining({ code: "host_misuse" })]);
      },
      OTHER,
    );
  });

  test("of processes opening a new database at once with different secrets, exactly one secret wins", async () => {
    const url = await createUrl();
    const apps = await Promise.all(
      [SECRET, OTHER, SECRET, OTHER, SECRET, OTHER].map(async (secret) => {
        const app = { secret, isReady: false };
        await withApp(
          open(url),
          async ({ lookup }) => {
            app.isReady = await lookup.ready().then(
              () => true,
              () => false,
            );
          },
          secret,
        );
        return app;
      }),
    );
    const winners = apps.filter(({ isReady }) => isReady);
    expect(winners.length).toBe(3);
    expect(new Set(winners.map(({ secret }) => secret)).size).toBe(1);
  });
});
