import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryDirectory } from "../../../test/outrigger-process.ts";
import { readApiKey } from "./lookup.ts";

it("readApiKey returns the first line of the file, otherwise the key of the environment", async () => {
  const file = join(await temporaryDirectory(), "key");
  await writeFile(file, " abc123 \r\nanother\n");
  expect(await readApiKey(file, { OUTRIGGER_API_KEY: "xyz" })).toBe("abc123");
  expect(await readApiKey(undefined, { OUTRIGGER_API_KEY: "xyz" })).toBe("xyz");
});

it("readApiKey explains how to set a key and quotes no part of an invalid one", async () => {
  const file = join(await temporaryDirectory(), "key");
  await writeFile(file, "hush hush\n");
  const refusal = await readApiKey(file, {}).catch(String);
  expect(refusal).toContain("has no key in its first line");
  expect(refusal).not.toContain("hush");
  await expect(readApiKey(`${file}s`, {})).rejects.toThrow(
    /--key-file: .*keys cannot be read: there is no such file/,
  );
  for (const environment of [{}, { OUTRIGGER_API_KEY: "" }, { OUTRIGGER_API_KEY: "ключ" }]) {
    await expect(readApiKey(undefined, environment)).rejects.toThrow("OUTRIGGER_API_KEY: must be a key");
  }
});
