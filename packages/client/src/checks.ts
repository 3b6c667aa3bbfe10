const IMAGE_ID = /^[A-Za-z0-9_-]{22}$/;
const PIN = /^[0-9A-Za-z]{16}$/;

/** Visible ASCII but quotes and backslashes, which a structured header would have to escape. */
const IDEMPOTENCY_KEY = /^[!#-[\]-~]{1,255}$/;
const HEADER_VALUE = /^[!-~]+$/;

export function isImageId(text: unknown): text is string {
  return typeof text === "string" && IMAGE_ID.test(text);
}

/** Hyphens between its characters do not matter. */
export function isPin(text: unknown): text is string {
  return typeof text === "string" && PIN.test(text.replaceAll("-", ""));
}

/** Throws a TypeError for what could not be an ID, before it gets into a path. */
export function requireImageId(id: string): void {
  if (!isImageId(id))
    throw new TypeError("id must be an image ID: 22 letters, digits, hyphens and underscores");
}

/** Throws a TypeError, which does not repeat it, for what could not be a PIN. */
export function requirePin(pin: string): void {
  if (!isPin(pin)) throw new TypeError("pin must be the PIN of an image: 16 letters and digits");
}

/** An instant: a `Date`, Unix milliseconds, or ISO 8601 with a zone, which the service checks. */
export type Instant = Date | number | string;

/** As JSON may carry it; throws a TypeError for an invalid `Date`, and for a number that is no instant. */
export function instantForJson(name: string, instant: Instant): number | string {
  if (typeof instant === "string") return instant;
  const ms = typeof instant === "number" ? instant : instant.getTime();
  if (!Number.isSafeInteger(ms)) throw new TypeError(`${name} must be a date, or whole Unix milliseconds`);
  return typeof instant === "number" ? ms : instant.toISOString();
}

/** Throws a TypeError for what the service would not take for a key. */
export function requireIdempotencyKey(key: string): void {
  if (IDEMPOTENCY_KEY.test(key)) return;
  throw new TypeError(
    "idempotencyKey must be 1 to 255 visible ASCII characters without quotes and backslashes",
  );
}

/** Whether a header can carry it. */
export function isApiKey(key: unknown): boolean {
  return typeof key === "string" && HEADER_VALUE.test(key);
}
