const IMAGE_ID = /^[A-Za-z0-9_-]{22}$/;
const PIN = /^[0-9A-Za-z]{16}$/;
const MAX_PIN_LENGTH = 1024;
/** The same as in core, which is no dependency. */
const IGNORED_IN_PIN =
  /[\s\p{Dash}\u02d7\u2043\u2500\u2796\u30fc\uff70\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\u2800\ufffc]+/gu;

/** Visible ASCII except quotes and backslashes, which a structured header must escape. */
const IDEMPOTENCY_KEY = /^[!#-[\]-~]{1,255}$/;

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isImageId(text: unknown): text is string {
  return typeof text === "string" && IMAGE_ID.test(text);
}

/** A PIN without white space, dashes and invisible characters; `null` for other text. */
export function plainPin(text: unknown): string | null {
  if (typeof text !== "string" || text.length > MAX_PIN_LENGTH) return null;
  const plain = text.replace(IGNORED_IN_PIN, "");
  return PIN.test(plain) ? plain : null;
}

/** Throws a TypeError for an invalid ID, before it is used in a path. */
export function requireImageId(id: string): void {
  if (!isImageId(id))
    throw new TypeError("id must be an image ID: 22 letters, digits, hyphens and underscores");
}

/** Like {@link plainPin}; throws a TypeError for an invalid PIN, without quoting it. */
export function requirePin(given: string): string {
  const pin = plainPin(given);
  if (pin === null) throw new TypeError("pin must be the PIN of an image: 16 letters and digits");
  return pin;
}

/** Throws a TypeError for a key that the service would reject. */
export function requireIdempotencyKey(key: string): void {
  if (IDEMPOTENCY_KEY.test(key)) return;
  throw new TypeError(
    "idempotencyKey must be 1 to 255 visible ASCII characters without quotes and backslashes",
  );
}

/** The ticket in its address, or by itself. Throws a TypeError for other text, without quoting it. */
export function bareTicket(given: string): string {
  const ticket = /(?:^|[?&#]ticket=)([\w-]+)$/.exec(given)?.[1];
  if (ticket === undefined) throw new TypeError("ticket must be an upload ticket, or the address of one");
  return ticket;
}

/** An instant: a `Date`, Unix milliseconds, or ISO 8601 with a zone, which the service checks. */
export type Instant = Date | number | string;

/** An instant as a JSON value; throws a TypeError for an invalid `Date` or number. `null`: never. */
export function instantForJson(name: string, instant: Instant | null): number | string | null {
  if (instant === null || typeof instant === "string") return instant;
  const ms = typeof instant === "number" ? instant : instant.getTime();
  if (!Number.isSafeInteger(ms)) throw new TypeError(`${name} must be a date, or whole Unix milliseconds`);
  return typeof instant === "number" ? ms : instant.toISOString();
}

/** A point as text, with the digits that the service keeps. Throws a TypeError for a value that is no point. */
export function pointText(name: string, point: readonly number[]): string {
  if (point.length === 2 && point.every((share) => share >= 0 && share <= 1)) {
    return point.map((share) => Number(share.toFixed(4))).join(",");
  }
  throw new TypeError(`${name} must be [x, y] with numbers from 0 to 1`);
}

/** The requirement of each option, as text and as a test. */
export type OptionRules = Readonly<
  Record<string, readonly [what: string, fits: (given: unknown) => boolean]>
>;

/** Throws a TypeError that names an unknown or invalid option; it quotes no value. Core, which has the same, is no dependency. */
export function checkOptions(factory: string, options: unknown, rules: OptionRules): void {
  const known = Object.keys(rules);
  if (!isObject(options)) throw new TypeError(`${factory} takes an object of options: ${known.join(", ")}`);
  for (const [name, given] of Object.entries(options)) {
    if (given === undefined) continue;
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
    if (rule === undefined) {
      const near = known.find((each) => isNear(name.toLowerCase(), each.toLowerCase()));
      const hint = near === undefined ? `it takes ${known.join(", ")}` : `did you mean ${near}?`;
      throw new TypeError(`${name} is no option of ${factory}: ${hint}`);
    }
    if (!rule[1](given)) throw new TypeError(`${name} must be ${rule[0]}`);
  }
}

/** Whether the names differ only in up to three characters between a common start and end. */
function isNear(a: string, b: string): boolean {
  let start = 0;
  while (start < a.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  return Math.max(a.length, b.length) - start - end <= 3 && start + end >= Math.min(2, b.length - 1);
}
