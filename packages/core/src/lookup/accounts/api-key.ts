import { hash, randomBytes } from "node:crypto";

const HINT_LENGTH = 6;

/** 160 random bits, as 40 hexadecimal digits. */
export function newApiKey(): { key: string; hash: string; hint: string } {
  const key = randomBytes(20).toString("hex");
  return { key, hash: hashApiKey(key), hint: key.slice(0, HINT_LENGTH) };
}

/** The stored hash of a key. Keys have 160 random bits, so a fast hash is secure. */
export function hashApiKey(key: string): string {
  return hash("sha256", key, "base64url");
}
