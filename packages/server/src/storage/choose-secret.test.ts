import { expect, test } from "vitest";
import { checkConfig } from "../config/check-config.ts";
import { settingsOf } from "../config/settings.ts";
import { chooseSecret } from "./choose-secret.ts";

const SECRET = "0123456789abcdef0123456789abcdef";

function secretOf(storage: unknown, secret?: string) {
  return chooseSecret(settingsOf(checkConfig({ storage, secret }, "a test")));
}

test("records that several nodes share need a configured secret, since a generated one would differ between nodes", () => {
  for (const storage of [
    "redis://user:hush@127.0.0.1:1",
    {
      records: "postgres://user:hush@127.0.0.1:1/none",
      originals: "file:./files",
      renditions: "file:./files",
    },
    "s3://bucket?endpoint=http://127.0.0.1:1",
  ]) {
    const message = /secret: must be set, since .* cannot keep one/;
    expect(() => secretOf(storage), JSON.stringify(storage)).toThrow(
      expect.objectContaining({ message: expect.stringMatching(message) }),
    );
    expect(() => secretOf(storage), JSON.stringify(storage)).not.toThrow(/hush/);
    expect(secretOf(storage, SECRET), JSON.stringify(storage)).toBe(SECRET);
  }
});

test("a directory keeps its own secret, and images in memory get a new one with each start", () => {
  expect(secretOf("file:./data")).toBeUndefined();
  const [first, second] = [secretOf("memory:"), secretOf("memory:")];
  expect(first).toMatch(/^[\w-]{43}$/);
  expect(second).not.toBe(first);
});
