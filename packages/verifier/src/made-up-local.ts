import { createHash } from "node:crypto";

const LENGTH = 20;

/**
 * A name that nobody has, for the question whether a domain accepts all. The same for one sender and domain: a greylisting
 * server would have to be asked twice about each new one.
 */
export function madeUpLocal(mailFrom: string, domain: string): string {
  const hash = createHash("sha256").update(`${mailFrom}\n${domain}`).digest("hex");
  return `q${BigInt(`0x${hash}`).toString(36).slice(0, LENGTH)}`;
}
