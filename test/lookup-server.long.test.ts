import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask, command, createLookupPlace, HEADER } from "../packages/server/test/lookup-place.ts";
import { jpeg, serve, temporaryDirectory, uploaded } from "../packages/server/test/outrigger-process.ts";
import { type PostgresServer, startPostgres } from "./support/postgres-server.ts";
import { startRedis } from "./support/redis-server.ts";

const PATIENCE = { timeout: 30_000, interval: 50 };

let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.close());

let databases = 0;
const newDatabase = () => postgres.createDatabase(`lookup${++databases}`);

const createPlace = async (kind: "embedded" | "postgres") =>
  createLookupPlace(kind === "postgres" ? await newDatabase() : undefined);

describe("outrigger serve --demo", () => {
  it("answers all calls over samples, with a key that it prints, the same at every start", async () => {
    const cwd = await temporaryDirectory();
    const keys: string[] = [];
    for (const start of ["first", "second"]) {
      const server = serve(cwd, ["--demo"]);
      const url = await server.url;
      await expect.poll(() => server.output.stdout, PATIENCE).toContain("Sample key: ");
      const [, key = ""] = /^Sample key: ([0-9a-f]{40})$/m.exec(server.output.stdout) ?? [];
      keys.push(key);
      const search = await ask(url, "domain-search", { domain: "example.com", limit: "100", api_key: key });
      expect(search.body.data.emails.length, start).toBeGreaterThanOrEqual(12);
      expect(search.body.data.emails.map(({ value }) => value)).toContain("ada.lovelace@example.com");
      const found = await ask(url, "email-finder", {
        ...{ domain: "example.com", full_name: "Ada Lovelace", api_key: key },
      });
      expect(found.body.data).toMatchObject({ email: "ada.lovelace@example.com", position: "Chief Analyst" });
      const guessed = await ask(url, "email-finder", {
        ...{ domain: "example.com", full_name: "Rosa Parks", api_key: key },
      });
      expect(guessed.body.data.email).toBe("rosa.parks@example.com");
      const verified = await ask(url, "email-verifier", { email: "ada.lovelace@example.com", api_key: key });
      expect(verified.body.data.status).toBe("valid");
      const institute = await ask(url, "domain-search", { company: "Example Institute", api_key: key });
      expect(institute.body.meta.results).toBeGreaterThan(3);
      server.child.kill("SIGTERM");
      expect(await server.exit).toBe(0);
      expect(server.output.stderr).not.toContain(key);
    }
    expect(keys[0]).toMatch(/^[0-9a-f]{40}$/);
    expect(keys[1]).toBe(keys[0]);
    const { mode } = await stat(join(cwd, "data", "lookup.db"));
    expect(mode & 0o077).toBe(0);
  });

  it("leaves away what was taken away, and prints no key that was revoked", async () => {
    const cwd = await temporaryDirectory();
    const first = serve(cwd, ["--demo"]);
    const url = await first.url;
    await expect.poll(() => first.output.stdout, PATIENCE).toContain("Sample key: ");
    const [, key = ""] = /^Sample key: (\w+)$/m.exec(first.output.stdout) ?? [];
    expect((await command(cwd, ["contacts", "erase", "grace.hopper@example.com"])).code).toBe(0);
    expect((await command(cwd, ["keys", "revoke", "sample", key.slice(0, 6)])).code).toBe(0);
    expect((await ask(url, "account", { api_key: key })).status).toBe(401);
    first.child.kill("SIGTERM");
    await first.exit;
    const second = serve(cwd, ["--demo"]);
    await second.url;
    second.child.kill("SIGTERM");
    await second.exit;
    expect(second.output.stdout).not.toContain("Sample key");
    const { stdout } = await command(cwd, ["contacts", "export"]);
    expect(stdout).toContain("ada.lovelace@example.com");
    expect(stdout).not.toContain("grace.hopper");
  });

  it("puts no samples into a database that is somebody's own", async () => {
    const place = await createPlace("embedded");
    expect((await place.run("contacts", "import", "people.csv")).code).toBe(0);
    const { key } = await place.createKey();
    const server = place.serve("--demo");
    const url = await server.url;
    const { body } = await ask(url, "email-count", { domain: "example.com", api_key: key });
    expect(body.data.total).toBe(0);
    expect(server.output.stdout).not.toContain("Sample key");
  });
});

describe("outrigger serve without --demo", () => {
  it("serves no lookup unless it is told to", async () => {
    const server = serve(await temporaryDirectory());
    const url = await server.url;
    expect(await (await fetch(url)).text()).not.toContain("/v2/");
    const response = await fetch(`${url}/v2/account`);
    expect(response.status).toBe(404);
    expect(response.headers.get("content-type")).toContain("application/problem+json");
    expect(await (await fetch(`${url}/readyz`)).json()).toEqual({
      status: "ready",
      checks: { storage: "ok", renderer: "ok" },
    });
  });

  it("has no samples and prints no key in a database that is new", async () => {
    const place = await createPlace("embedded");
    const server = place.serve();
    const url = await server.url;
    expect((await ask(url, "email-count", { domain: "example.com" })).body.data.total).toBe(0);
    expect((await place.run("keys", "list", "--json")).stdout).toBe("");
    server.child.kill("SIGTERM");
    await server.exit;
    expect(server.output.stdout).toBe(`Outrigger listens on ${url}\n`);
  });

  it("serves images and lookup side by side", async () => {
    const place = await createPlace("embedded");
    const { key } = await place.createKey();
    const server = place.serve();
    const url = await server.url;
    const image = await uploaded(url, await jpeg());
    expect((await fetch(image.url)).status).toBe(200);
    expect((await fetch(`${url}/api/images/${image.id}.png`)).headers.get("content-type")).toBe("image/png");
    expect((await ask(url, "account", { api_key: key })).status).toBe(200);
    expect(await (await fetch(url)).text()).toContain(`curl "${url}/v2/domain-search?domain=`);
    // What is below /v2 is the lookup's, what only looks like it is not.
    const unknown = await ask(url, image.id, {});
    expect([unknown.status, unknown.body.errors[0]?.id]).toEqual([404, "not_found"]);
    const refused = await fetch(`${url}/v2/account`, { method: "POST" });
    expect(refused.status).toBe(405);
    expect((await fetch(`${url}/v2x`)).headers.get("content-type")).toContain("application/problem+json");
    expect(await (await fetch(`${url}/readyz`)).json()).toMatchObject({ checks: { lookup: "ok" } });
  });
});

describe.each(["embedded", "postgres"] as const)("the lookup on a database that is %s", (kind) => {
  it("shares keys, quotas and suppressions between two servers and the commands", async () => {
    const place = await createPlace(kind);
    // Of the section, the environment has the database and the file the rest.
    await writeFile(join(place.cwd, "outrigger.config.json"), '{"lookup": {"requestsPerSecond": false}}');
    const { key, account } = await place.createKey("--account", "acme", "--email", "it@acme.example");
    expect(account).toBe("acme");
    const servers = [place.serve(), place.serve()];
    const urls = await Promise.all(servers.map((server) => server.url));
    const [one = "", other = ""] = urls;
    expect((await place.run("contacts", "import", "people.csv")).stdout).toContain("4 addresses added");

    const crowd = Array.from(
      { length: 130 },
      (_, index) => `${nameOf(index)}@crowd.example,${nameOf(index)},Lee,,,`,
    );
    await writeFile(join(place.cwd, "crowd.csv"), [HEADER, ...crowd].join("\n"));
    expect((await place.run("contacts", "import", "crowd.csv")).stdout).toContain("130 addresses added");

    // A hundred searches in the month: of 130 that come at once to both, as many are answered.
    const statuses = await Promise.all(
      crowd.map(async (line, index) => {
        const [, name = ""] = line.split(",");
        const person = { domain: "crowd.example", first_name: name, last_name: "Lee", api_key: key };
        return (await ask(urls[index % 2] ?? "", "email-finder", person)).status;
      }),
    );
    const countOf = (status: number) => statuses.filter((each) => each === status).length;
    expect({ answered: countOf(200), refused: countOf(429) }).toEqual({ answered: 100, refused: 30 });
    const used = await ask(other, "account", { api_key: key });
    expect(used.body.data.requests.searches).toEqual({ used: 100, available: 100 });

    const another = await place.createKey();
    expect((await ask(one, "account", { api_key: another.key })).status).toBe(200);
    expect((await place.run("keys", "revoke", another.account, another.key)).code).toBe(0);
    for (const url of urls) expect((await ask(url, "account", { api_key: another.key })).status).toBe(401);

    const { key: third } = await place.createKey("--account", "third");
    const person = { domain: "acme.example", full_name: "Bob Ray", api_key: third };
    expect((await ask(one, "email-finder", person)).body.data.email).toBe("bob.ray@acme.example");
    expect(await place.run("suppress", "Bob.Ray@acme.example")).toMatchObject({
      code: 0,
      stdout: "bob.ray@acme.example suppressed\n",
    });
    for (const url of urls) {
      expect((await ask(url, "email-finder", person)).status).toBe(451);
      const { body } = await ask(url, "domain-search", { domain: "acme.example", api_key: third });
      expect(body.data.emails.map(({ value }) => value).toSorted()).toEqual([
        "ann.lee@acme.example",
        "cy.poe@acme.example",
      ]);
    }
    const again = await place.run("contacts", "import", "people.csv", "--json");
    expect(JSON.parse(again.stdout)).toMatchObject({ added: 0, unchanged: 3, suppressed: 1 });
    expect((await place.run("contacts", "export")).stdout).not.toContain("bob.ray");
    expect((await place.run("suppress", "--remove", "bob.ray@acme.example")).code).toBe(0);
    expect(JSON.parse((await place.run("contacts", "import", "people.csv", "--json")).stdout)).toMatchObject({
      added: 1,
    });
    expect((await ask(other, "email-finder", { ...person, full_name: "Bob  Ray" })).body.data.email).toBe(
      "bob.ray@acme.example",
    );
  }, 120_000);

  it("has after import and export and import the same", async () => {
    const place = await createPlace(kind);
    expect((await place.run("contacts", "import", "people.csv")).code).toBe(0);
    const first = await place.run("contacts", "export", "--format", "ndjson");
    expect(first.stdout.trimEnd().split("\n").length).toBe(4);
    for (const file of ["out.csv", "out.ndjson"]) {
      expect(await place.run("contacts", "export", file)).toEqual({ code: 0, stdout: "", stderr: "" });
      expect((await stat(join(place.cwd, file))).mode & 0o777).toBe(0o600);
      const fresh = await createPlace(kind);
      const imported = await fresh.run("contacts", "import", join(place.cwd, file));
      expect(imported).toMatchObject({ code: 0, stderr: "" });
      expect((await fresh.run("contacts", "export", "--format", "ndjson")).stdout).toBe(first.stdout);
    }
    expect(await readFile(join(place.cwd, "out.ndjson"), "utf8")).toBe(first.stdout);
    expect(JSON.parse((await place.run("contacts", "stats", "--json")).stdout)).toEqual({
      ...{ addresses: 4, personal: 4, generic: 0, domains: 2, pages: 4 },
    });
    const erased = await place.run(
      "contacts",
      "erase",
      "other.example",
      "ann.lee@acme.example",
      "no@acme.example",
    );
    expect(erased).toEqual({
      code: 1,
      stdout: "other.example erased\nann.lee@acme.example erased\n",
      stderr: "outrigger: no@acme.example: unknown\n",
    });
  }, 90_000);
});

function nameOf(index: number): string {
  const letters = "abcdefghij";
  return `N${[...String(index)].map((digit) => letters[Number(digit)]).join("")}`;
}

describe("a lookup beside images in Redis", () => {
  it("shares counts and verdicts there, from which nobody can read an address", async () => {
    const redis = await startRedis();
    try {
      const place = await createPlace("postgres");
      const env = { ...place.env, OUTRIGGER_STORAGE: redis.url };
      const run = (...args: string[]) => command(place.cwd, args, env);
      await writeFile(
        join(place.cwd, "outrigger.config.json"),
        '{"lookup": {"requestsPerSecond": 1, "dnsServers": ["127.0.0.1:1"]}}',
      );
      const { key } = await place.createKey();
      const servers = [serve(place.cwd, [], env), serve(place.cwd, [], env)];
      const [one = "", other = ""] = await Promise.all(servers.map((server) => server.url));
      // Within the second of one's answer, the other refuses.
      await expect
        .poll(async () => {
          const answers = [
            await ask(one, "account", { api_key: key }),
            await ask(other, "account", { api_key: key }),
          ];
          return answers.map(({ status }) => status);
        }, PATIENCE)
        .toEqual([200, 429]);
      const email = "ann.lee@acme.example";
      await expect
        .poll(async () => (await ask(one, "email-verifier", { email, api_key: key })).status, PATIENCE)
        .toBe(200);
      await expect.poll(() => redis.cli("--scan", "--pattern", "*probe:*"), PATIENCE).not.toBe("");
      expect(await redis.cli("--scan")).not.toContain("acme");
      expect((await run("contacts", "import", "people.csv")).code).toBe(0);
      // What is forgotten by the command is forgotten by the servers.
      expect((await run("suppress", email)).code).toBe(0);
      expect(await redis.cli("--scan", "--pattern", "*probe:*")).toBe("");
    } finally {
      await redis.close();
    }
  }, 90_000);
});

describe("a lookup in trouble", () => {
  it("answers 503 while its database is away, and images go on", async () => {
    const place = await createPlace("postgres");
    const { key } = await place.createKey();
    const server = place.serve();
    const url = await server.url;
    const image = await uploaded(url, await jpeg());
    await postgres.kill();
    try {
      const { status, body, headers } = await ask(url, "domain-search", {
        domain: "acme.example",
        api_key: key,
      });
      expect(status).toBe(503);
      expect(body.errors[0]).toMatchObject({ id: "unavailable", code: 503 });
      expect(headers.get("retry-after")).toMatch(/^\d+$/);
      const ready = await fetch(`${url}/readyz`);
      expect(ready.status).toBe(503);
      expect(await ready.json()).toEqual({
        status: "not ready",
        checks: { storage: "ok", renderer: "ok", lookup: "failing" },
      });
      expect((await fetch(`${url}/api/images/${image.id}.png`)).status).toBe(200);
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
      const doctor = await place.run("doctor");
      expect(doctor.stdout).toMatch(
        /^problem {2}lookup database: postgres:\/\/127\.0\.0\.1:\d+\/lookup\d+ cannot be used/m,
      );
      const late = place.serve();
      expect(await late.exit).toBe(1);
      expect(late.output.stderr).toContain("The lookup's database postgres://127.0.0.1:");
    } finally {
      await postgres.start();
    }
    await expect.poll(async () => (await fetch(`${url}/readyz`)).status, PATIENCE).toBe(200);
    expect((await ask(url, "domain-search", { domain: "acme.example", api_key: key })).status).toBe(200);
    server.child.kill("SIGTERM");
    expect(await server.exit).toBe(0);
  }, 120_000);

  it("logs neither keys nor addresses, at any level", async () => {
    const place = await createPlace("embedded");
    await writeFile(
      join(place.cwd, "outrigger.config.json"),
      JSON.stringify({ log: { level: "trace" }, lookup: { dnsServers: ["127.0.0.1:1"] } }),
    );
    const { key } = await place.createKey();
    const server = place.serve();
    const url = await server.url;
    await place.run("contacts", "import", "people.csv");
    const email = "ann.lee@acme.example";
    await ask(url, "email-verifier", { email, api_key: key });
    await fetch(`${url}/v2/email-verifier?email=${email}`, { headers: { "X-API-KEY": key } });
    await fetch(`${url}/v2/email-verifier?email=${email}`, { headers: { Authorization: `Bearer ${key}` } });
    await fetch(`${url}/v2/email-verifier/${email}/api_key=${key}`);
    await fetch(`${url}/v2/${key}`, {
      headers: { Referer: `${url}/v2/account?api_key=${key}&email=${email}` },
    });
    await fetch(`${url}/v2/email-finder%3Fapi_key%3D${key}&email=${encodeURIComponent(email)}`);
    server.child.kill("SIGTERM");
    expect(await server.exit).toBe(0);
    expect(server.output.stderr.match(/"path":"\/v2\//g)?.length).toBe(6);
    expect(server.output.stderr).not.toContain(key);
    expect(server.output.stderr).not.toMatch(/ann\.lee/);
  });

  it.each([
    [
      "OUTRIGGER_LOOKUP_DATABASE",
      "mysql://u:hush@h/x",
      "OUTRIGGER_LOOKUP_DATABASE: must be file:path, or postgres://",
    ],
    [
      "OUTRIGGER_LOOKUP_DATABASE",
      "lookup.db",
      "OUTRIGGER_LOOKUP_DATABASE: must be file:path, or postgres://",
    ],
  ])("does not start with %s=%s", async (name, value, message) => {
    const server = serve(await temporaryDirectory(), [], { [name]: value });
    expect(await server.exit).toBe(2);
    expect(server.output.stderr).toContain(message);
    expect(server.output.stderr).not.toContain("hush");
  });

  it("does not start where nothing says where its data is", async () => {
    const cwd = await temporaryDirectory();
    await writeFile(join(cwd, "outrigger.config.json"), '{"storage": "memory:", "lookup": {}}');
    const server = serve(cwd);
    expect(await server.exit).toBe(2);
    expect(server.output.stderr).toContain(
      "lookup.database: must be set if images are not stored in a directory",
    );
  });

  it.each(["embedded", "postgres"])(
    "makes no secret beside a database elsewhere that is %s, which would not be the server's or the app's",
    async (kind) => {
      const cwd = await temporaryDirectory();
      const database = kind === "postgres" ? await newDatabase() : "file:./lookup.db";
      const env = { OUTRIGGER_LOOKUP_DATABASE: database };
      const { code, stderr } = await command(cwd, ["keys", "create"], env);
      expect([code, stderr]).toEqual([1, expect.stringContaining("A server creates it at its first start")]);
      expect(stderr).toContain("set OUTRIGGER_SECRET or lookup.secret to the secret of the app");
      for (const made of ["data", "lookup.db"]) await expect(stat(join(cwd, made))).rejects.toThrow("ENOENT");
    },
  );

  it("is none in a demonstration without a directory, and images are served", async () => {
    const server = serve(await temporaryDirectory(), ["--demo"], { OUTRIGGER_STORAGE: "memory:" });
    const url = await server.url;
    await server.logged("The demonstration has no lookup");
    expect((await fetch((await uploaded(url, await jpeg())).url)).status).toBe(200);
  });

  it("does not start with another secret than the suppressions were made with", async () => {
    const place = await createPlace("postgres");
    expect((await place.run("suppress", "ann.lee@acme.example")).code).toBe(0);
    const server = serve(place.cwd, [], { ...place.env, OUTRIGGER_SECRET: "x".repeat(40) });
    expect(await server.exit).toBe(1);
    expect(server.output.stderr).toContain("were made with another secret");
  });
});
