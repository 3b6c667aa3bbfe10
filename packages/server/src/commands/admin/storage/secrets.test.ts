import { randomBytes } from "node:crypto";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { StorageTarget } from "@outrigger/core/stores";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../../../test/outrigger-process.ts";
import { secretText } from "../../../config/secret-text.ts";
import { planSecret, putSecretBack, readSecrets, requireSecretPlace, writeSecrets } from "./secrets.ts";

const REDIS: StorageTarget = { kind: "redis", url: "redis://127.0.0.1:6379" };

/** A directory for each side; the first may keep a secret. */
async function sides(kept: Buffer | null) {
  const cwd = await temporaryDirectory();
  const [from, to] = [join(cwd, "from"), join(cwd, "to")];
  for (const directory of [from, to]) await mkdir(directory);
  if (kept !== null) await writeFile(join(from, "secret"), kept, { mode: 0o600 });
  const fileOf = (directory: string): StorageTarget => ({ kind: "file", directory });
  return { cwd, from: fileOf(from), to: fileOf(to), own: join(to, "secret") };
}

describe("planSecret", () => {
  it("copies the secret of a directory, or a configured one, to another directory", async () => {
    const kept = randomBytes(32);
    const configured = Buffer.from("a text of thirty-two bytes or more");
    for (const [known, given, from] of [
      [kept, [], "file"],
      [kept, [kept], "file"],
      [configured, [configured], "redis"],
    ] as const) {
      const { from: directory, to, own } = await sides(from === "file" ? kept : null);
      const source = from === "file" ? directory : REDIS;
      const plan = await planSecret({ from: source, to, configured: given, secretFile: undefined });
      await expect(stat(own)).rejects.toThrow("ENOENT");
      await plan.carry();
      await plan.carry();
      expect(await readFile(own)).toEqual(known);
      expect((await stat(own)).mode & 0o777).toBe(0o600);
      expect(plan.advice).toContain("now keeps the secret of the old server");
    }
  });

  it("writes all known secrets to a file, the configured ones first", async () => {
    const [kept, first, second] = [randomBytes(32), randomBytes(32), randomBytes(40)];
    const { from, to, own, cwd } = await sides(kept);
    const secretFile = join(cwd, "secrets");
    const plan = await planSecret({ from, to, configured: [first, second], secretFile });
    await plan.carry();
    const lines = [first, second, kept].map(secretText);
    expect(await readFile(secretFile, "utf8")).toBe(`${lines.join("\n")}\n`);
    expect(plan.advice).toContain(`OUTRIGGER_SECRET_FILE=${secretFile}`);
    // A directory keeps only one secret.
    await expect(stat(own)).rejects.toThrow("ENOENT");
  });

  it("names the remaining steps if the target keeps no secret", async () => {
    const { from } = await sides(randomBytes(32));
    const advice = async (source: StorageTarget, configured: Buffer[]) => {
      return (await planSecret({ from: source, to: REDIS, configured, secretFile: undefined })).advice;
    };
    expect(await advice(from, [])).toContain("Run this again with --secret-file FILE");
    expect(await advice(REDIS, [randomBytes(32)])).toContain("the secret given to this command");
    expect(await advice(REDIS, [])).toContain("the secret of the old server");
  });

  it("rejects an existing file, a missing directory, and an unknown secret", async () => {
    const { from, to, own, cwd } = await sides(randomBytes(32));
    const plan = (secretFile?: string) => planSecret({ from, to, configured: [], secretFile });
    await writeFile(join(cwd, "taken"), "something else");
    await expect(plan(join(cwd, "taken"))).rejects.toThrow("already exists with other content");
    await expect(plan(join(cwd, "nowhere", "secret"))).rejects.toThrow("there is no directory");
    await expect(
      planSecret({ from: REDIS, to: REDIS, configured: [], secretFile: join(cwd, "new") }),
    ).rejects.toThrow("if no secret is known");
    await writeFile(own, randomBytes(32));
    await expect(plan()).rejects.toThrow("holds another secret than the source");
  });
});

const S3 = { kind: "s3", bucket: "backups" } as const;

describe("secrets in a backup", () => {
  it("are written readable by this user only, replace earlier ones, and are read back unchanged", async () => {
    const directory = await temporaryDirectory();
    const place = { kind: "file", directory } as const;
    const secrets = [randomBytes(32), Buffer.from("a text of more than thirty-two bytes")];
    const path = requireSecretPlace(place, secrets);
    await writeFile(path, "something older", { mode: 0o644 });
    await writeSecrets(path, secrets);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readSecrets(place)).toEqual({ path, secrets });
  });

  it("are rejected for S3, and if no secret is known", () => {
    expect(() => requireSecretPlace(S3, [randomBytes(32)])).toThrow(
      "--with-secret: s3://backups/ is not a local directory",
    );
    expect(() => requireSecretPlace({ kind: "file", directory: "/backup" }, [])).toThrow(
      "no secret is known",
    );
  });

  it("are restored to a directory without a secret, and otherwise named", async () => {
    const directory = await temporaryDirectory();
    const records = { kind: "file", directory } as const;
    const [only, other] = [randomBytes(32), randomBytes(32)];
    const of = (...secrets: Buffer[]) => ({ path: "/backup/secrets", secrets });
    expect(await putSecretBack(records, [other], of(only))).toContain("keeps its secret");
    expect(await putSecretBack(records, [], of())).toContain("is not in the backup");
    expect(await putSecretBack(S3, [], of(only))).toContain("OUTRIGGER_SECRET_FILE=/backup/secrets");
    expect(await putSecretBack(records, [], of(only, other))).toContain(
      "OUTRIGGER_SECRET_FILE=/backup/secrets",
    );
    await expect(stat(join(directory, "secret"))).rejects.toThrow("ENOENT");
    expect(await putSecretBack(records, [], of(only))).toContain("has the secret of the old service again");
    expect(await readFile(join(directory, "secret"))).toEqual(only);
    expect((await stat(join(directory, "secret"))).mode & 0o777).toBe(0o600);
  });

  it("are rejected if a line is not a secret", async () => {
    const directory = await temporaryDirectory();
    await writeFile(join(directory, "secrets"), "base64:%%%\n");
    await expect(readSecrets({ kind: "file", directory })).rejects.toThrow("has lines that are not secrets");
  });
});
