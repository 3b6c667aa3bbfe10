import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createFsBlobStore } from "@outrigger/core";
import { describe, expect, it } from "vitest";
import { outrigger, temporaryDirectory } from "../packages/server/test/outrigger-process.ts";
import { bytesOf, migrated, opened, redis } from "./support/migration.ts";
import { stockDirectory } from "./support/stocked-directory.ts";

describe("a migration in trouble", () => {
  it("the migration refuses a target in use, the source as target, memory:, and a missing source directory", async () => {
    const cwd = await temporaryDirectory();
    await stockDirectory(join(cwd, "data"), 1, 10);
    await stockDirectory(join(cwd, "other"), 1, 10);
    await rm(join(cwd, "other", "secret"));
    const same = { records: "file:./data", originals: "file:./b", renditions: "file:./b" };
    for (const [to, code, message] of [
      ["file:./other", 1, "Nothing was copied: the target is not empty"],
      [JSON.stringify(same), 2, "--to: must not share a store with --from"],
      ["memory:", 2, "--to: must not be memory:"],
      ['{"records": "file:./b"}', 2, "--to.originals: must be a URL"],
    ] as const) {
      const { stderr, ...ended } = await migrated(cwd, to);
      expect([to, ended.code, stderr]).toEqual([to, code, expect.stringContaining(message)]);
    }
    expect(await migrated(cwd, "file:./b", ["--concurrency", "0"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("must be a whole number from 1 to 256."),
    });
    const elsewhere = outrigger(["migrate", "--from", "file:./nowhere", "--to", "file:./b"], { cwd });
    expect(await elsewhere.exit).toBe(1);
    expect(elsewhere.output.stderr).toContain("There is no data directory");
  });

  it("the migration prints and stores neither passwords nor the secret", async () => {
    const cwd = await temporaryDirectory();
    await stockDirectory(join(cwd, "data"), 3, 10);
    const server = await redis({ args: ["--requirepass", "hush-right"], password: "hush-right" });
    const url = (password: string) => server.url.replace("//", `//:${password}@`);
    const env = { OUTRIGGER_SECRET: "hush, this is what PINs are derived from" };
    const outputs = [
      await migrated(cwd, url("hush-wrong"), [], env),
      await migrated(cwd, url("hush-right"), ["--secret-file", "secret"], env),
      await migrated(cwd, url("hush-right"), ["--json", "--secret-file", "secret"], env),
      await migrated(cwd, url("hush-right"), ["--secret-file", "data/secret"], env),
    ];
    expect(outputs.map(({ code }) => code)).toEqual([1, 0, 0, 2]);
    const printed = outputs.map(({ stdout, stderr }) => stdout + stderr).join("");
    expect(printed).not.toContain("hush");
    const back = outrigger(["migrate", "--from", url("hush-right"), "--to", "file:./back"], { cwd });
    expect(await back.exit).toBe(0);
    const mark = await bytesOf(
      opened(createFsBlobStore({ directory: join(cwd, "back") })),
      "migration/state",
    );
    const kept = await readFile(join(cwd, "data", "secret"));
    const shown = printed + back.output.stdout + back.output.stderr + mark.toString();
    for (const form of ["hex", "base64", "base64url", "latin1"] as const) {
      expect(shown).not.toContain(kept.toString(form));
    }
    expect(shown).not.toContain("hush");
    await writeFile(join(cwd, "secret"), "something else");
    expect(await migrated(cwd, url("hush-right"), ["--secret-file", "secret"], env)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--secret-file: "),
    });
  });
});
