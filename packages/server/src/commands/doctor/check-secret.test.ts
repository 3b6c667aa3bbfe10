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

  it("takes one that only its owner may read", async () => {
    expect(await checkFile(32, 0o600)).toEqual({ check: "secret", status: "ok", detail: path });
  });

  it("takes none for one that is still to be made", async () => {
    expect(await checkSecret({ kind: "file", directory: data }, false)).toMatchObject({
      status: "ok",
      detail: "made at the first start",
    });
  });

  it("tells how to hide one that others may read", async () => {
    for (const mode of [0o640, 0o604]) {
      expect(await checkFile(32, mode)).toEqual({
        check: "secret",
        status: "problem",
        detail: `${path} can be read by others`,
        remedy: `Make it yours alone: chmod 600 ${path}`,
      });
    }
  });

  it("finds one that was cut", async () => {
    expect(await checkFile(31, 0o600)).toMatchObject({ status: "problem", detail: `${path} is too short` });
  });

  it("finds what cannot be read", async () => {
    await mkdir(path, { mode: 0o700 });
    expect(await checkSecret({ kind: "file", directory: data }, false)).toEqual({
      check: "secret",
      status: "problem",
      detail: expect.stringMatching(/secret cannot be read: EISDIR/),
      remedy: "Give it to the server's user",
    });
  });

  it("does not look at the file where the configuration has one", async () => {
    await checkFile(1, 0o644);
    expect(await checkSecret({ kind: "file", directory: data }, true)).toMatchObject({
      status: "ok",
      detail: "the one of the configuration",
    });
  });

  it("misses one where none can be kept beside the records, unless they are gone with the process", async () => {
    const redis = { kind: "redis", url: "redis://user:hush@localhost:6379" } as const;
    expect(await checkSecret(redis, false)).toEqual({
      check: "secret",
      status: "problem",
      detail: "there is none, and redis://localhost:6379 keeps none",
      remedy: "Set secret or OUTRIGGER_SECRET to at least 32 random bytes, the same for all processes",
    });
    expect(await checkSecret(redis, true)).toMatchObject({ status: "ok" });
    expect(await checkSecret({ kind: "memory" }, false)).toMatchObject({ status: "ok" });
  });
});
