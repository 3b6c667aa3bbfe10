import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { secretBytes } from "@outrigger/core/stores";
import { describe, expect, it } from "vitest";
import { jpeg, serve, temporaryDirectory, uploaded } from "../../test/outrigger-process.ts";
import { secretText } from "./secret-text.ts";

const MEMORY = { OUTRIGGER_STORAGE: "memory:" };
const SHORT = "must have at least 32 bytes";

describe("OUTRIGGER_SECRET_FILE", () => {
  it("holds one secret per line, as text or base64: the first signs, all verify", async () => {
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
    ["too short in base64", "base64:aHVzaA==", SHORT],
    ["invalid base64", `base64:${"hush*".repeat(20)}`, SHORT],
    ["empty", "\n\n", "is empty"],
  ])("that is %s exits with 2 and is not quoted", async (_, text, message) => {
    const cwd = await temporaryDirectory();
    await writeFile(join(cwd, "secret"), text);
    const { exit, output } = serve(cwd, [], { ...MEMORY, OUTRIGGER_SECRET_FILE: "secret" });
    expect(await exit).toBe(2);
    expect(output.stderr).toBe(
      `outrigger: The environment is not valid\nOUTRIGGER_SECRET_FILE: ${message}\n`,
    );
  });

  it("exits with 2 if it is missing or OUTRIGGER_SECRET is also set", async () => {
    const cwd = await temporaryDirectory();
    const missing = serve(cwd, [], { OUTRIGGER_SECRET_FILE: "nowhere" });
    expect(await missing.exit).toBe(2);
    expect(missing.output.stderr).toContain("OUTRIGGER_SECRET_FILE: cannot be read: there is no such file");
    const both = serve(cwd, [], { OUTRIGGER_SECRET_FILE: "nowhere", OUTRIGGER_SECRET: "x".repeat(32) });
    expect(await both.exit).toBe(2);
    expect(both.output.stderr).toContain("must not be set together with OUTRIGGER_SECRET");
  });
});

describe("secretBytes", () => {
  it("decodes a secret after base64: and takes any other text as UTF-8 bytes", () => {
    const bytes = randomBytes(33);
    expect(secretBytes(secretText(bytes))).toEqual(bytes);
    expect(secretBytes("as it is")?.toString()).toBe("as it is");
    expect(secretBytes("base64:?")).toBeNull();
  });
});
