import { parseImageAddress } from "@outrigger/client";
import { printable } from "../../../cli/printable.ts";
import { ConfigError } from "../../../config/config-error.ts";
import { serviceUrlOf } from "../service-url.ts";

/** An ID that begins with a hyphen gets a slash before it, so that it is not parsed as an option. */
const ID = /^\/?([A-Za-z0-9_-]{22})$/;
const PIN = /^[0-9A-Za-z]{16}$/;

/** An image of a service. */
export interface ImageTarget {
  /** Address at which the service is mounted. */
  baseUrl: string;
  id: string;
  /** PIN in the address; `null` without one. */
  pin: string | null;
}

/**
 * The image of an address, or of an ID with `--to`.
 * @throws ConfigError that quotes no query, which may hold a PIN.
 */
export function imageTargetOf(text: string, to: string | undefined): ImageTarget {
  const [target] = imageTargetsOf([text], to);
  if (target === undefined) throw new Error("No image target");
  return target;
}

/** Like {@link imageTargetOf} for several, each once. @throws ConfigError that names all invalid ones. */
export function imageTargetsOf(texts: readonly string[], to: string | undefined): ImageTarget[] {
  const targets = new Map<string, ImageTarget>();
  const wrong: string[] = [];
  for (const text of texts) {
    const target = parse(text, to);
    if (target === null) {
      wrong.push(text);
      continue;
    }
    const key = `${target.baseUrl}/${target.id}`;
    // Only one of several addresses of an image may have the PIN.
    targets.set(key, { ...target, pin: target.pin ?? targets.get(key)?.pin ?? null });
  }
  if (wrong.length === 0) return [...targets.values()];
  throw new ConfigError(
    "The command line",
    wrong.map((text) => `${printable(text.replace(/[?#].*$/s, ""))}: must be an image's address or its ID`),
  );
}

function parse(text: string, to: string | undefined): ImageTarget | null {
  if (URL.canParse(text)) return parseImageAddress(text);
  const [, id] = ID.exec(text) ?? [];
  return id === undefined ? null : { baseUrl: serviceUrlOf(to), id, pin: null };
}

/**
 * The PIN of an image: from its address, otherwise as typed, otherwise from the environment.
 * @throws ConfigError for a missing or invalid PIN, which is not quoted.
 */
export function pinOf({ id, pin }: ImageTarget, typed: string | undefined): string {
  const known = [pin, typed, process.env.OUTRIGGER_PIN].find((text) => (text ?? "") !== "");
  if (known !== undefined && known !== null && PIN.test(known.replaceAll("-", ""))) return known;
  throw new ConfigError("The command line", [
    `${id}: needs its PIN (16 letters and digits): use the edit address, or set OUTRIGGER_PIN or --pin`,
  ]);
}
