import { isObject } from "./reply.ts";

// The client has no dependencies, not even core: this is a small version of `checkOptions` of core.

/** The requirement of each option, as text and as a test. */
export type OptionRules = Readonly<
  Record<string, readonly [what: string, fits: (given: unknown) => boolean]>
>;

/** Throws a TypeError that names an unknown or invalid option; it quotes no value. */
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
