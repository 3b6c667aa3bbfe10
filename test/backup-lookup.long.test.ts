import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ask, createLookupPlace, PEOPLE } from "../packages/server/test/lookup-place.ts";
import { outrigger, serve } from "../packages/server/test/outrigger-process.ts";
import { run } from "./support/programs.ts";
import { stockDirectory } from "./support/stocked-directory.ts";

it("restore --ends adds later suppressions to a copied lookup database, which answers to its keys again", async () => {
  const place = await createLookupPlace();
  const { cwd } = place;
  await stockDirectory(join(cwd, "data"), 2, 500);
  expect(await place.run("contacts", "import", "people.csv")).toMatchObject({ code: 0 });
  const { key } = await place.createKey();
  expect(await place.run("backup", "--to", "file:./backup", "--with-secret")).toMatchObject({ code: 0 });
  const copied = await run("sqlite3", [join(cwd, "data/lookup.db"), `.backup '${join(cwd, "copy.db")}'`]);
  expect([copied.status, copied.stderr]).toEqual([0, ""]);
  expect((await place.run("suppress", "bob.ray@acme.example")).code).toBe(0);
  const ends = await place.run("images", "ends");
  expect(ends).toMatchObject({ code: 0, stdout: expect.stringContaining('{"suppressions":["') });
  await writeFile(join(cwd, "ends.ndjson"), ends.stdout);

  await mkdir(join(cwd, "new"));
  await copyFile(join(cwd, "copy.db"), join(cwd, "new/lookup.db"));
  const env = { ...place.env, OUTRIGGER_LOOKUP_DATABASE: "file:./new/lookup.db" };
  const restore = ["restore", "--from", "file:./backup", "--data", "new", "--ends", "ends.ndjson"];
  const { exit, output } = outrigger(restore, { cwd, env });
  expect([await exit, output.stderr]).toEqual([0, ""]);
  const server = serve(cwd, ["--data", "new"], env);
  const base = await server.url;
  const { status, body } = await ask(base, "domain-search", { domain: "acme.example", api_key: key });
  const [ann, bob = "", cy] = PEOPLE.map((line) => line.split(",")[0]);
  expect([status, body.data.emails.map(({ value }) => value).sort()]).toEqual([200, [ann, cy]]);
  expect((await ask(base, "email-verifier", { email: bob, api_key: key })).status).toBe(451);
  server.child.kill("SIGTERM");
  expect(await server.exit).toBe(0);
});
