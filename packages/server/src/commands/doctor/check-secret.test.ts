import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../../test/outrigger-process.ts";
import { checkSecret } from "./check-secret.ts";

describe("checkSecret", () => {
  let data: string;
  let path: string;

  beforeEach(async () => {
    data = await temporaryDirectory();
    path = join(data, "secret");
  });

  async function checkFile(bytes: number, mode: number) {
    await writeFile(path, Buffer.alloc(bytes, "s"));
    await chmod(path, mode);
    return checkSecret({ kind: "file", directory: data }, false);
  }

  it("accepts a secret that only its owner can read", async () => {
    expect(await checkFile(32, 0o600)).toEqual({ check: "secret", status: "ok", detail: path });
  });

  it("accepts a missing secret that the first start will create", async () => {
    expect(await checkSecret({ kind: "file", directory: data }, false)).toMatchObject({
      status: "ok",
      detail: "created at the first start",
    });
  });

  it("reports a secret that other users can read, with the remedy", async () => {
    for (const mode of [0o640, 0o604]) {
      expect(await checkFile(32, mode)).toEqual({
        check: "secret",
        status: "problem",
        detail: `${path} can be read by other users`,
        remedy: `Restrict it to its owner: chmod 600 ${path}`,
      });
    }
  });

  it("reports a truncated secret", async () => {
    expect(await checkFile(31, 0o600)).toMatchObject({ status: "problem", detail: `${path} is too short` });
  });

  it("reports a secret that cannot be read", async () => {
    await mkdir(path, { mode: 0o700 });
    expect(await checkSecret({ kind: "file", directory: data }, false)).toEqual({
      check: "secret",
      status: "problem",
      detail: `${path} cannot be read: it is a directory`,
      remedy: "Make the server's user its owner",
    });
  });

  it("ignores the file if the configuration sets a secret", async () => {
    await checkFile(1, 0o644);
    expect(await checkSecret({ kind: "file", directory: data }, true)).toMatchObject({
      status: "ok",
      detail: "set in the configuration",
    });
  });

  it("reports a missing secret if the records are in Redis, and accepts it if they are in memory", async () => {
    const redis = { kind: "redis", url: "redis://user:hush@localhost:6379" } as const;
    expect(await checkSecret(redis, false)).toEqual({
      check: "secret",
      status: "problem",
      detail: "none is set, and redis://localhost:6379 cannot keep one",
      remedy: "Set secret or OUTRIGGER_SECRET to at least 32 random bytes, the same for all processes",
    });
    expect(await checkSecret(redis, true)).toMatchObject({ status: "ok" });
    expect(await checkSecret({ kind: "memory" }, false)).toMatchObject({ status: "ok" });
  });
});
