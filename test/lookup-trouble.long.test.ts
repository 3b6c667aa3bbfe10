import { stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ask, command } from "../packages/server/test/lookup-place.ts";
import { jpeg, temporaryDirectory, uploaded } from "../packages/server/test/outrigger-process.ts";
import { lookupPlacesForAll } from "./lookup/lookup-places.ts";
import { stockDirectory } from "./support/stocked-directory.ts";

const { createPlace, postgres } = lookupPlacesForAll();

describe("a lookup in trouble", () => {
  it("the lookup answers 503 while its database is down, and images stay available", async () => {
    const place = await createPlace("postgres");
    const { key } = await place.createKey();
    const server = place.serve();
    const url = await server.url;
    const image = await uploaded(url, await jpeg());
    await postgres().kill();
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
      const checked = await place.run("serve", "--check");
      expect(checked.stdout).toMatch(
        /^problem {2}lookup database: postgres:\/\/127\.0\.0\.1:\d+\/lookup\d+ cannot be used/m,
      );
      const late = place.serve();
      expect(await late.exit).toBe(1);
      expect(late.output.stderr).toContain("The lookup's database postgres://127.0.0.1:");
    } finally {
      await postgres().start();
    }
    await expect.poll(async () => (await fetch(`${url}/readyz`)).status).toBe(200);
    expect((await ask(url, "domain-search", { domain: "acme.example", api_key: key })).status).toBe(200);
    server.child.kill("SIGTERM");
    expect(await server.exit).toBe(0);
  });
  it("suppress, erase, revoke, images ends and serve --check make no tables in PostgreSQL without a lookup, and name the database", async () => {
    const place = await createPlace("postgres");
    const { host, pathname } = new URL(place.env.OUTRIGGER_LOOKUP_DATABASE ?? "");
    const said = `There is no lookup database postgres://${host}${pathname}. Set it with`;
    await stockDirectory(join(place.cwd, "data"), 1, 500);
    expect((await place.run("images", "ends")).code).toBe(0);
    expect((await place.run("serve", "--check")).stdout).toContain("lookup database: postgres://");
    for (const args of [
      ["suppress", "ada@a.example"],
      ["contacts", "erase", "ada@a.example"],
      ["keys", "revoke", "acme", "79a034"],
    ]) {
      const { code, stderr } = await place.run(...args);
      expect([code, stderr]).toEqual([1, expect.stringContaining(said)]);
    }
    const { stderr } = await place.run("contacts", "import", "people.csv");
    expect(stderr).toContain(`outrigger: lookup database postgres://${host}${pathname} (new)\n`);
  });

  it("keys create makes no secret for an embedded database outside the data directory, and names the settings to use", async () => {
    const cwd = await temporaryDirectory();
    const env = { OUTRIGGER_LOOKUP_DATABASE: "file:./lookup.db" };
    const { code, stderr } = await command(cwd, ["keys", "create"], env);
    expect([code, stderr]).toEqual([1, expect.stringContaining("A server creates it at its first start")]);
    expect(stderr).toContain("set OUTRIGGER_SECRET or lookup.secret to the secret of the app");
    for (const made of ["data", "lookup.db"]) await expect(stat(join(cwd, made))).rejects.toThrow("ENOENT");
  });
});
