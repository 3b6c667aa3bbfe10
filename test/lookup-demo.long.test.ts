import { stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ask, command, createLookupPlace } from "../packages/server/test/lookup-place.ts";
import { jpeg, serve, temporaryDirectory, uploaded } from "../packages/server/test/outrigger-process.ts";

describe("the lookup of serve --demo", () => {
  it("serve --demo answers every call from sample data with the key it prints, the same key at every start", async () => {
    const cwd = await temporaryDirectory();
    const keys: string[] = [];
    for (const start of ["first", "second"]) {
      const server = serve(cwd, ["--demo"]);
      const url = await server.url;
      await expect.poll(() => server.output.stdout).toContain("Sample key: ");
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

  it("serve --demo restores no erased sample contact and prints no revoked key", async () => {
    const cwd = await temporaryDirectory();
    const first = serve(cwd, ["--demo"]);
    const url = await first.url;
    await expect.poll(() => first.output.stdout).toContain("Sample key: ");
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
});

describe("the lookup of serve without --demo", () => {
  it("serve adds no samples to a new database and prints no key", async () => {
    const place = await createLookupPlace();
    const server = place.serve();
    const url = await server.url;
    expect((await ask(url, "email-count", { domain: "example.com" })).body.data.total).toBe(0);
    expect((await place.run("keys", "list", "--json")).stdout).toBe("");
    server.child.kill("SIGTERM");
    await server.exit;
    expect(server.output.stdout).toBe(`Outrigger listens on ${url}\n`);
  });

  it("serve answers images and lookup side by side", async () => {
    const place = await createLookupPlace();
    const { key } = await place.createKey();
    const server = place.serve();
    const url = await server.url;
    const image = await uploaded(url, await jpeg());
    expect((await fetch(image.url)).status).toBe(200);
    expect((await fetch(`${url}/api/images/${image.id}.png`)).headers.get("content-type")).toBe("image/png");
    expect((await ask(url, "account", { api_key: key })).status).toBe(200);
    expect(await (await fetch(url)).text()).toContain(`curl "${url}/v2/domain-search?domain=`);
    // The lookup answers below /v2 only, not for a path such as /v2x.
    const unknown = await ask(url, image.id, {});
    expect([unknown.status, unknown.body.errors[0]?.id]).toEqual([404, "not_found"]);
    const refused = await fetch(`${url}/v2/account`, { method: "POST" });
    expect(refused.status).toBe(405);
    expect((await fetch(`${url}/v2x`)).headers.get("content-type")).toContain("application/problem+json");
    expect(await (await fetch(`${url}/readyz`)).json()).toMatchObject({ checks: { lookup: "ok" } });
  });
});
