import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ask, command, HEADER } from "../packages/server/test/lookup-place.ts";
import { serve } from "../packages/server/test/outrigger-process.ts";
import { lookupPlacesForAll } from "./lookup/lookup-places.ts";
import { startRedis } from "./support/redis-server.ts";

const { createPlace } = lookupPlacesForAll();

describe.each(["embedded", "postgres"] as const)("a lookup on the %s database", (kind) => {
  it("two servers and the commands share keys, quotas and suppressions", async () => {
    const place = await createPlace(kind);
    // The environment sets the database; the file sets the rest of the lookup section.
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

    // The quota is 100 searches a month: of 130 simultaneous requests to both servers 100 succeed.
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
  });
});

it("the first import into a new PostgreSQL database creates the data directory and its secret", async () => {
  const { cwd, env: place } = await createPlace("postgres");
  const env = { OUTRIGGER_LOOKUP_DATABASE: place.OUTRIGGER_LOOKUP_DATABASE ?? "" };
  const imported = await command(cwd, ["contacts", "import", "people.csv"], env);
  const database = new URL(env.OUTRIGGER_LOOKUP_DATABASE);
  const said = `outrigger: lookup database postgres://${database.host}${database.pathname} (new)\n`;
  expect(imported).toMatchObject({ code: 0, stderr: said });
  const { stdout } = await command(cwd, ["keys", "create", "--json"], env);
  const answer = await ask(await serve(cwd, [], env).url, "account", { api_key: JSON.parse(stdout).key });
  expect(answer.status).toBe(200);
  // Another directory has another secret, with which suppressed people would be served.
  const elsewhere = await command(cwd, ["contacts", "import", "people.csv", "--data", "elsewhere"], env);
  expect(elsewhere.code).toBe(1);
  expect(elsewhere.stderr).toContain("made with another secret");
});

function nameOf(index: number): string {
  const letters = "abcdefghij";
  return `N${[...String(index)].map((digit) => letters[Number(digit)]).join("")}`;
}

describe("a lookup beside images in Redis", () => {
  it("two servers share rate limits and verdicts in Redis, whose keys reveal no address", async () => {
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
      // Each server lets two requests wait. Without a shared rate, each would answer three in two seconds.
      const servedOf = async (count: number) => {
        const urls = Array.from({ length: count }, (_, index) => (index % 2 === 0 ? one : other));
        const answers = await Promise.all(urls.map((url) => ask(url, "account", { api_key: key })));
        return answers.filter(({ status }) => status === 200).length;
      };
      await expect.poll(() => servedOf(10)).toSatisfy((served) => served === 2 || served === 3);
      const email = "ann.lee@acme.example";
      await expect
        .poll(async () => (await ask(one, "email-verifier", { email, api_key: key })).status)
        .toBe(200);
      await expect.poll(() => redis.cli("--scan", "--pattern", "*probe:*")).not.toBe("");
      expect(await redis.cli("--scan")).not.toContain("acme");
      expect((await run("contacts", "import", "people.csv")).code).toBe(0);
      // The command also deletes the verdict that the servers cached.
      expect((await run("suppress", email)).code).toBe(0);
      expect(await redis.cli("--scan", "--pattern", "*probe:*")).toBe("");
    } finally {
      await redis.close();
    }
  });
});
