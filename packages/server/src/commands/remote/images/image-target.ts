import { parseImageAddress } from "@outrigger/client";
import { printable } from "../../../cli/printable.ts";
import { ConfigError } from "../../../config/config-error.ts";
import { serviceUrlOf } from "../service-url.ts";

/** One that begins with a hyphen has a slash in front of it, lest it be taken for an option. */
const ID = /^\/?([A-Za-z0-9_-]{22})$/;
const PIN = /^[0-9A-Za-z]{16}$/;

/** An image of a service. */
export interface ImageTarget {
  /** Where the service is mounted. */
  baseUrl: string;
  id: string;
  /** That the address carries; `null` for none. */
  pin: string | null;
}

/**
 * The image that an address, or an ID together with `--to`, names.
 * @throws ConfigError, which repeats no query: there may be a PIN in it.
 */
export function imageTargetOf(text: string, to: string | undefined): ImageTarget {
  const [target] = imageTargetsOf([text], to);
  if (target === undefined) throw new Error("There is none");
  return target;
}

/** As {@link imageTargetOf} for several, each once. @throws ConfigError naming all that are none. */
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
    // One of several addresses of the same image may have the PIN.
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
 * The PIN of an image: that of its address, else what was typed, else what the environment says.
 * @throws ConfigError where there is none, or what cannot be one, which is not repeated.
 */
export function pinOf({ id, pin }: ImageTarget, typed: string | undefined): string {
  const known = [pin, typed, process.env.OUTRIGGER_PIN].find((text) => (text ?? "") !== "");
  if (known !== undefined && known !== null && PIN.test(known.replaceAll("-", ""))) return known;
  throw new ConfigError("The command line", [
    `${id}: needs its PIN, 16 letters and digits: the edit address has it, else OUTRIGGER_PIN or --pin`,
  ]);
}
