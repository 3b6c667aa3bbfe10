import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ask, command } from "../packages/server/test/lookup-place.ts";
import { jpeg, serve, temporaryDirectory, uploaded } from "../packages/server/test/outrigger-process.ts";
import { lookupPlacesForAll, PATIENCE } from "./lookup/lookup-places.ts";

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
      const doctor = await place.run("doctor");
      expect(doctor.stdout).toMatch(
        /^problem {2}lookup database: postgres:\/\/127\.0\.0\.1:\d+\/lookup\d+ cannot be used/m,
      );
      const late = place.serve();
      expect(await late.exit).toBe(1);
      expect(late.output.stderr).toContain("The lookup's database postgres://127.0.0.1:");
    } finally {
      await postgres().start();
    }
    await expect.poll(async () => (await fetch(`${url}/readyz`)).status, PATIENCE).toBe(200);
    expect((await ask(url, "domain-search", { domain: "acme.example", api_key: key })).status).toBe(200);
    server.child.kill("SIGTERM");
    expect(await server.exit).toBe(0);
  }, 120_000);

  it("the server logs neither API keys nor addresses at any level", async () => {
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
  ])("the server does not start with %s=%s", async (name, value, message) => {
    const server = serve(await temporaryDirectory(), [], { [name]: value });
    expect(await server.exit).toBe(2);
    expect(server.output.stderr).toContain(message);
    expect(server.output.stderr).not.toContain("hush");
  });

  it("the server does not start without lookup.database if images are not in a directory", async () => {
    const cwd = await temporaryDirectory();
    await writeFile(join(cwd, "outrigger.config.json"), '{"storage": "memory:", "lookup": {}}');
    const server = serve(cwd);
    expect(await server.exit).toBe(2);
    expect(server.output.stderr).toContain(
      "lookup.database: must be set if images are not stored in a directory",
    );
  });

  it("keys create makes no secret for an embedded database outside the data directory, and names the settings to use", async () => {
    const cwd = await temporaryDirectory();
    const env = { OUTRIGGER_LOOKUP_DATABASE: "file:./lookup.db" };
    const { code, stderr } = await command(cwd, ["keys", "create"], env);
    expect([code, stderr]).toEqual([1, expect.stringContaining("A server creates it at its first start")]);
    expect(stderr).toContain("set OUTRIGGER_SECRET or lookup.secret to the secret of the app");
    for (const made of ["data", "lookup.db"]) await expect(stat(join(cwd, made))).rejects.toThrow("ENOENT");
  });

  it("keys create with a new secret leaves a PostgreSQL database of another secret alone", async () => {
    const place = await createPlace("postgres");
    expect((await place.run("suppress", "ann.lee@acme.example")).code).toBe(0);
    const env = { OUTRIGGER_LOOKUP_DATABASE: place.env.OUTRIGGER_LOOKUP_DATABASE ?? "" };
    const { code, stderr } = await command(await temporaryDirectory(), ["keys", "create"], env);
    expect([code, stderr]).toEqual([1, expect.stringContaining("made with another secret")]);
  });

  it("serve --demo in memory has no lookup and serves images", async () => {
    const server = serve(await temporaryDirectory(), ["--demo"], { OUTRIGGER_STORAGE: "memory:" });
    const url = await server.url;
    await server.logged("The demonstration has no lookup");
    expect((await fetch((await uploaded(url, await jpeg())).url)).status).toBe(200);
  });

  it("the server does not start with a secret other than the one of its suppressions", async () => {
    const place = await createPlace("postgres");
    expect((await place.run("suppress", "ann.lee@acme.example")).code).toBe(0);
    const server = serve(place.cwd, [], { ...place.env, OUTRIGGER_SECRET: "x".repeat(40) });
    expect(await server.exit).toBe(1);
    expect(server.output.stderr).toContain("were made with another secret");
  });
});
