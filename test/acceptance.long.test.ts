import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { OriginalType } from "@outrigger/core/images";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inParallel } from "./hostile/in-parallel.ts";
import { programs, run } from "./support/programs.ts";
import { postImage, type Site, startSite } from "./support/service.ts";

/** Where systems keep the pictures and documents of what is installed. */
const SYSTEM_DIRECTORY = "/usr/share";
const MAX_BYTES = 5_000_000;
/** Taken evenly from all that are there. */
const MAX_FILES = 150;

interface Kind {
  type: OriginalType;
  suffix: RegExp;
  /** A program that opens such files, and ends with status 0 when it could. */
  opens(path: string): [program: string, args: string[]];
}

const KINDS: readonly Kind[] = [
  { type: "image/png", suffix: /\.png$/i, opens: (path) => magick("png", path) },
  { type: "image/jpeg", suffix: /\.jpe?g$/i, opens: (path) => magick("jpeg", path) },
  { type: "image/gif", suffix: /\.gif$/i, opens: (path) => magick("gif", path) },
  {
    type: "image/svg+xml",
    suffix: /\.svgz?$/i,
    opens: (path) => [programs.rsvgConvert, ["--output", "/dev/null", path]],
  },
  {
    type: "application/pdf",
    suffix: /\.pdf$/i,
    opens: (path) => [programs.pdftoppm, ["-r", "20", "-l", "1", path]],
  },
];

function magick(format: string, path: string): [string, string[]] {
  return [programs.convert, [`${format}:${path}`, "null:"]];
}

let site: Site;
beforeAll(async () => {
  site = await startSite({ pages: false });
});
afterAll(() => site.close());

describe("the files installed on this system", () => {
  let looked = 0;

  test.each(KINDS)(
    "the service refuses hardly any $type that another program opens",
    async ({ type, suffix, opens }) => {
      const paths = spread(filesBelow(SYSTEM_DIRECTORY, suffix));
      looked += paths.length;
      const refused: string[] = [];
      await inParallel(paths, 4, async (path) => {
        const response = await postImage(site, readFileSync(path), type);
        if (response.status === 201) return;
        const said = await response.text();
        expect(response.status, `${path}: ${said}`).toBe(415);
        const { status } = await run(...opens(path));
        if (status === 0) refused.push(`${path}: ${said}`);
      });
      expect(refused.length, refused.join("\n")).toBeLessThanOrEqual(paths.length / 100);
    },
  );

  test("at least some files were found", () => {
    expect(looked).toBeGreaterThan(20);
  });
});

function filesBelow(directory: string, suffix: RegExp): string[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && suffix.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => statSync(path).size <= MAX_BYTES)
    .sort();
}

/** At most {@link MAX_FILES} of them, from all over the list. */
function spread(paths: string[]): string[] {
  const step = Math.max(1, paths.length / MAX_FILES);
  return Array.from({ length: Math.min(paths.length, MAX_FILES) }, (_, index) =>
    paths.at(Math.floor(index * step)),
  ).filter((path) => path !== undefined);
}
