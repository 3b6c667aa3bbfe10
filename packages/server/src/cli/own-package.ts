import { readFileSync } from "node:fs";

/** The fields used of this package's `package.json`. */
export interface OwnPackage {
  version: string;
  engines: {
    /** `>=major.minor` */
    node: string;
  };
}

/** Reads this package's own `package.json`. */
export function readOwnPackage(): OwnPackage {
  // The file is part of this package, so its shape is known.
  return JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as OwnPackage;
}
