import { readFileSync } from "node:fs";

/** What is read of this package's own `package.json`. */
export interface OwnPackage {
  version: string;
  engines: {
    /** `>=major.minor` */
    node: string;
  };
}

/** Reads this package's own `package.json`. */
export function readOwnPackage(): OwnPackage {
  // Our own file, written by us.
  return JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as OwnPackage;
}
