// @ts-check
import { readFileSync } from "node:fs";

/**
 * What PINs are derived from, as `outrigger migrate --secret-file` writes it: `base64:…` in each line, of which the first
 * signs and all verify.
 * @param {string | undefined} path `undefined`: a directory keeps its own.
 */
export function readSecret(path) {
  if (path === undefined) return undefined;
  const lines = readFileSync(path, "utf8").split("\n");
  return lines
    .filter((line) => line !== "")
    .map((line) => Buffer.from(line.replace(/^base64:/, ""), "base64"));
}
