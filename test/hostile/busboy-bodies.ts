import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { runInNewContext } from "node:vm";

export interface BusboyBody {
  title: string;
  body: Buffer;
  boundary: string;
}

/** The valid and broken bodies from the tests that the multipart parser's own package ships. */
export function busboyBodies(): BusboyBody[] {
  const { resolve } = createRequire(createRequire(import.meta.url).resolve("multer"));
  const path = join(dirname(resolve("busboy/package.json")), "test", "test-types-multipart.js");
  const table = /const tests = (\[[\s\S]*?\n\]);/.exec(readFileSync(path, "utf8"))?.[1];
  if (table === undefined) throw new Error(`No table of tests in ${path}`);
  // Written by busboy's authors as the rows of their test.
  const rows = runInNewContext(table, { Buffer }) as {
    source: (string | Buffer)[];
    boundary: string;
    what: string;
  }[];
  return rows.map(({ source, boundary, what }) => ({
    title: what,
    boundary,
    body: Buffer.concat(
      source.map((piece) => (typeof piece === "string" ? Buffer.from(piece, "utf8") : piece)),
    ),
  }));
}
