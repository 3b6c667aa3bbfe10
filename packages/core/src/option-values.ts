import { parsedUrl } from "./parsed-url.ts";
// Values of options: how messages show them, and type checks that several rules share.

/** Hides texts of 32 bytes or more and addresses: a secret may have been passed as the wrong option. */
export function shownText(given: string, isSecret: boolean): string {
  const isHidden = isSecret || given.length >= 32 || given.includes("@");
  return isHidden ? `a text of ${given.length} characters` : JSON.stringify(given);
}

/** Describes a function that was passed instead of its result. @param path Path of the option. */
export function shownFunction(name: string, path: string): string {
  const called = name === "" ? "it" : name;
  return `the function ${called}: call it, ${path.slice(path.lastIndexOf(" ") + 1)}: ${called}()`;
}

/** Shows numbers, booleans, `null` and `undefined`; for other values only the type. */
export function typeName(given: unknown): string {
  if (given === null || given === undefined || typeof given === "number" || typeof given === "boolean")
    return String(given);
  if (Array.isArray(given)) return given.length === 0 ? "an empty list" : "a list";
  return typeof given === "object" ? "an object" : `a ${typeof given}`;
}

export function isWhole(given: unknown, min: number, max: number): boolean {
  return Number.isSafeInteger(given) && (given as number) >= min && (given as number) <= max; // isSafeInteger() accepts numbers only.
}

export function isObject(given: unknown): given is object {
  return typeof given === "object" && given !== null && !Array.isArray(given);
}

export function missingMethod(given: object, methods: readonly string[]): string | undefined {
  return methods.find((name) => typeof Reflect.get(given, name) !== "function");
}

/**   -1 for a value that is neither text nor bytes. Bytes may come from another realm, so `instanceof` would fail. */
export function byteLength(given: unknown): number {
  if (typeof given === "string") return Buffer.byteLength(given);
  return Object.prototype.toString.call(given) === "[object Uint8Array]"
    ? (given as Uint8Array).byteLength // Proved by its tag.
    : -1;
}

export function isMountUrl(given: string): boolean {
  const parsed = parsedUrl(given);
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) return false;
  return parsed.username + parsed.password + parsed.search + parsed.hash === "";
}
