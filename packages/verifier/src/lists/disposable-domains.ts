import { readFileSync } from "node:fs";

let known: ReadonlySet<string> | undefined;

/** The built-in list of disposable domains, read at its first use. An entry covers its subdomains. */
export function disposableDomains(): ReadonlySet<string> {
  known ??= new Set<string>(
    JSON.parse(readFileSync(new URL("../../dist/disposable-domains.json", import.meta.url), "utf8")),
  );
  return known;
}
