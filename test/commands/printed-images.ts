import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, beforeEach } from "vitest";
import { pngPhoto } from "../support/pictures.ts";
import type { Site } from "./served.ts";

/** An image as the commands print it with --json: the fields that the tests compare. */
export interface Printed {
  file: string;
  id: string;
  name: string;
  description: string | null;
  type: string;
  size: number;
  status: string;
  agent: { name: string; version: string };
  expiresAt: string;
  url: string;
  editUrl: string;
  pin: string;
}

export const DAY_MS = 86_400_000;

/** Parses output with one JSON object per line. The tests verify its shape. */
export function printed(stdout: string): Printed[] {
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Printed);
}

/** A `photo.png` of 64 × 48 pixels in the directory of every test. */
export function photoForAll(site: Site) {
  let png: Buffer;
  beforeAll(async () => {
    png = await pngPhoto(64, 48);
  });
  beforeEach(() => writeFile(join(site.cwd(), "photo.png"), png));
  return { png: () => png, uploaded };

  /** Uploads the photo by the command. */
  async function uploaded(...args: string[]): Promise<Printed> {
    const { stdout, stderr } = await site.run(["upload", "photo.png", "--json", ...args]);
    const [image] = printed(stdout);
    if (image === undefined) throw new Error(stderr);
    return image;
  }
}
