import { existsSync } from "node:fs";
import { mkdir, readdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startRedis } from "../../../../../test/support/redis-server.ts";
import { outrigger, serve, temporaryDirectory } from "../../../test/outrigger-process.ts";

// Each test starts several servers.
const ONE = "one secret of at least 32 bytes, yes";
const OTHER = "other secret of at least 32 bytes, yes";

it("serve logs once that a data directory is new, and later starts on it with existing", async () => {
  const cwd = await temporaryDirectory();
  const first = serve(cwd);
  await first.url;
  expect(first.output.stderr).toContain(`"where":"${join(cwd, "data")}"`);
  expect(first.output.stderr).toContain('"msg":"new data directory"');
  await writeFile(join(cwd, "outrigger.config.json"), '{"existing": true}');
  const second = serve(cwd);
  await second.url;
  expect(second.output.stderr).not.toContain("new data directory");
  const wrong = serve(cwd, [], { OUTRIGGER_EXISTING: "yes" });
  expect(await wrong.exit).toBe(2);
  expect(wrong.output.stderr).toContain("OUTRIGGER_EXISTING: must be true or false");
});

it("serve rejects an empty data directory with --existing or OUTRIGGER_EXISTING, and creates nothing", async () => {
  const cwd = await temporaryDirectory();
  const missing = serve(cwd, ["--existing"]);
  expect(await missing.exit).toBe(1);
  expect(missing.output.stderr).toMatch(/^outrigger: There is no data directory .*data\. Set it with --data/);
  const data = join(cwd, "data");
  await mkdir(data);
  const empty = serve(cwd, [], { OUTRIGGER_EXISTING: "true" });
  expect(await empty.exit).toBe(1);
  expect(empty.output.stderr).toContain("is not a data directory of Outrigger");
  expect(await readdir(data)).toEqual([]);
});

it("serve rejects an empty Redis with --existing, and a Redis used with another secret", async () => {
  const redis = await startRedis();
  try {
    const cwd = await temporaryDirectory();
    const start = (secret: string, ...args: string[]) =>
      serve(cwd, args, { OUTRIGGER_STORAGE: redis.url, OUTRIGGER_SECRET: secret });
    const existing = start(ONE, "--existing");
    expect(await existing.exit).toBe(1);
    expect(existing.output.stderr).toMatch(/The storage is empty, and an existing one is required\. Mount/);
    expect(await redis.cli("DBSIZE")).toBe("0");
    await start(ONE).url;
    const other = start(OTHER);
    expect(await other.exit).toBe(1);
    const said = other.output.stderr.split("\n").filter((line) => line.startsWith("outrigger:"));
    expect(said).toEqual([
      expect.stringMatching(
        /cannot be used: The PINs of this storage were made with another secret.*OUTRIGGER_SECRET/,
      ),
    ]);
    expect(other.output.stderr).not.toContain(OTHER);
    await writeFile(join(cwd, "secrets"), `${OTHER}\n${ONE}\n`);
    const rotated = { OUTRIGGER_STORAGE: redis.url, OUTRIGGER_SECRET_FILE: join(cwd, "secrets") };
    expect(await serve(cwd, ["--existing"], rotated).url).toMatch(/^http:/);
  } finally {
    await redis.close();
  }
});

it("serve and the lookup commands name the missing secret of a data directory and create no new one", async () => {
  const cwd = await temporaryDirectory();
  const first = serve(cwd);
  await first.url;
  first.child.kill("SIGTERM");
  await first.exit;
  const secret = join(cwd, "data", "secret");
  await rename(secret, `${secret}.away`);
  const database = { OUTRIGGER_LOOKUP_DATABASE: "file:./lookup.db" };
  const again = serve(cwd, [], database);
  expect(await again.exit).toBe(1);
  expect(again.output.stderr).toContain(`Restore the file ${secret} from a backup`);
  const command = outrigger(["keys", "create", "--account", "me"], { cwd, env: database });
  expect(await command.exit).toBe(1);
  expect(command.output.stderr).toContain(`There is no ${secret}`);
  expect(existsSync(secret)).toBe(false);
});
