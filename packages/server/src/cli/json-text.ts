import { printable } from "./printable.ts";

/** Anything of the API as one line of JSON. */
export function jsonText(value: unknown): string {
  return `${printable(JSON.stringify(value))}\n`;
}
