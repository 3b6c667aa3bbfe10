import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { jpeg, serve, temporaryDirectory, uploaded } from "../../test/outrigger-process.ts";
import { secretBytes, secretText } from "./secret-text.ts";

const MEMORY = { OUTRIGGER_STORAGE: "memory:" };
const SHORT = "must have at least 32 bytes";

describe("OUTRIGGER_SECRET_FILE", () => {
  it("has a secret in each line: the first signs, all verify, as text or as base64", async () => {
    const cwd = await temporaryDirectory();
    const old = "a text of thirty-two bytes or more";
    const bytes = secretText(randomBytes(32));
    const rename = async (url: string, { id, pin }: { id: string; pin: string }) => {
      const headers = { "Content-Type": "application/json", "X-Service-Image-Pin": pin };
      const init = { method: "PATCH", headers, body: '{"name":"renamed"}' };
      return (await fetch(`${url}/api/images/${id}.json`, init)).status;
    };
    const first = serve(cwd, [], { OUTRIGGER_SECRET: old });
    const early = await uploaded(await first.url, await jpeg());
    first.child.kill("SIGTERM");
    await first.exit;
    await writeFile(join(cwd, "secrets"), `${bytes}\n${old}\r\n\n`);
    const second = serve(cwd, [], { OUTRIGGER_SECRET_FILE: "secrets" });
    const url = await second.url;
    const late = await uploaded(url, await jpeg());
    expect([await rename(url, early), await rename(url, late)]).toEqual([200, 200]);
    second.child.kill("SIGTERM");
    await second.exit;
    const third = serve(cwd, [], { OUTRIGGER_SECRET: bytes });
    expect([await rename(await third.url, early), await rename(await third.url, late)]).toEqual([403, 200]);
  });

  it.each([
    ["short", "hush", SHORT],
    ["short in base64", "base64:aHVzaA==", SHORT],
    ["no base64", `base64:${"hush*".repeat(20)}`, SHORT],
    ["empty", "\n\n", "is empty"],
  ])("exits with 2 and without a word of it when it is %s", async (_, text, message) => {
    const cwd = await temporaryDirectory();
    await writeFile(join(cwd, "secret"), text);
    const { exit, output } = serve(cwd, [], { ...MEMORY, OUTRIGGER_SECRET_FILE: "secret" });
    expect(await exit).toBe(2);
    expect(output.stderr).toBe(
      `outrigger: The environment is not valid\nOUTRIGGER_SECRET_FILE: ${message}\n`,
    );
  });

  it("exits with 2 when it is not there, or stands beside OUTRIGGER_SECRET", async () => {
    const cwd = await temporaryDirectory();
    const missing = serve(cwd, [], { OUTRIGGER_SECRET_FILE: "nowhere" });
    expect(await missing.exit).toBe(2);
    expect(missing.output.stderr).toContain("OUTRIGGER_SECRET_FILE: cannot be read: ENOENT");
    const both = serve(cwd, [], { OUTRIGGER_SECRET_FILE: "nowhere", OUTRIGGER_SECRET: "x".repeat(32) });
    expect(await both.exit).toBe(2);
    expect(both.output.stderr).toContain("must not be given beside OUTRIGGER_SECRET");
  });
});

describe("a secret as text", () => {
  it("stands for its bytes, or for those in base64", () => {
    const bytes = randomBytes(33);
    expect(secretBytes(secretText(bytes))).toEqual(bytes);
    expect(secretBytes("as it is")?.toString()).toBe("as it is");
    expect(secretBytes("base64:?")).toBeNull();
  });
});
