import { randomBytes } from "node:crypto";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../../../test/outrigger-process.ts";
import { putSecretBack, readSecrets, requireSecretPlace, writeSecrets } from "./backed-up-secrets.ts";

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
