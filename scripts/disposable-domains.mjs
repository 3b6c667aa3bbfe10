// Copies the list of disposable domains, a development dependency of the package in the working directory, into `dist`.
import { copyFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const LIST = "disposable-email-domains-js/dist/dict/disposable_email_blocklist.json";
copyFileSync(
  createRequire(join(process.cwd(), "package.json")).resolve(LIST),
  "dist/disposable-domains.json",
);
