import { InvalidArgumentError } from "commander";

const MAX_CONCURRENCY = 256;

/** The number of `--concurrency`. */
export function parseConcurrency(text: string): number {
  const number = Number(text);
  if (/^\d{1,3}$/.test(text) && number >= 1 && number <= MAX_CONCURRENCY) return number;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${MAX_CONCURRENCY}.`);
}
