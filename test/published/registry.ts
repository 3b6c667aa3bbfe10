import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { type Packed, packAsTheyAre } from "../../scripts/release/pack.mjs";
import { type PublicManifest, publicPackages } from "../../scripts/release/packages.mjs";
import { ROOT } from "../documents/pages.ts";
import { listen } from "../support/listen.ts";

/** An npm registry on loopback. */
export interface Registry {
  /** Ends in a slash, and differs for each build: npm's cache never answers with an earlier one. */
  url: string;
  /** The packages of this checkout: name to version. */
  packages: ReadonlyMap<string, string>;
  close(): Promise<void>;
}

interface Release {
  manifest: PublicManifest;
  packed: Packed;
  tarball: Buffer;
}

const CACHE = join(ROOT, "node_modules/.cache/outrigger-packed");
const LIST = "packed.json";
/** A process that packs takes a few seconds. After this time it was killed. */
const MAX_PACKING_MS = 120_000;

/**
 * Serves this checkout's packages as `npm publish` would upload them. Requests for all other packages are redirected to the
 * registry of the user's npm configuration.
 */
export async function startRegistry(): Promise<Registry> {
  const [{ directory, digest }, upstream] = await Promise.all([packOnce(), configuredRegistry()]);
  const list: Packed[] = JSON.parse(await readFile(join(directory, LIST), "utf8"));
  const releases = new Map<string, Release>();
  for (const { manifest } of publicPackages(ROOT)) {
    const packed = list.find(({ name }) => name === manifest.name);
    if (packed === undefined) throw new Error(`${manifest.name} was not packed`);
    const tarball = await readFile(join(directory, packed.filename));
    releases.set(manifest.name, { manifest, packed, tarball });
  }

  const server = createServer((req, res) => {
    const path = decodeURIComponent((req.url ?? "/").split("?", 1)[0] ?? "").slice(prefix.length);
    const file = [...releases.values()].find(({ packed }) => path === `-/${packed.filename}`);
    const release = releases.get(path);
    if (file !== undefined) res.end(file.tarball);
    else if (release !== undefined) {
      res.setHeader("Content-Type", "application/json");
      res.end(JSON.stringify(packumentOf(release, url)));
    } else res.writeHead(307, { Location: upstream + path.replace(/(?<=^@[^/]+)\//, "%2f") }).end();
  });
  const prefix = `/${digest}/`;
  const { origin, close } = await listen(server);
  const url = origin + prefix;
  const versions = [...releases].map(([name, { manifest }]) => [name, manifest.version] as const);
  return { url, packages: new Map(versions), close };
}

function packumentOf({ manifest, packed, tarball }: Release, url: string) {
  const { name, version } = manifest;
  const dist = {
    tarball: `${url}-/${packed.filename}`,
    integrity: packed.integrity,
    shasum: createHash("sha1").update(tarball).digest("hex"),
  };
  return { name, "dist-tags": { latest: version }, versions: { [version]: { ...manifest, dist } } };
}

/** Test files that run at the same time share one packing. An earlier build's is deleted. */
async function packOnce(): Promise<{ directory: string; digest: string }> {
  const digest = await digestOfPackages();
  const directory = join(CACHE, digest);
  const lock = `${directory}.packing`;
  await mkdir(CACHE, { recursive: true });
  while (!existsSync(directory)) {
    const isMine = await mkdir(lock).then(
      () => true,
      // Another test file is packing.
      () => false,
    );
    if (!isMine) {
      const { mtimeMs } = (await stat(lock).catch(() => null)) ?? { mtimeMs: Date.now() };
      if (Date.now() - mtimeMs > MAX_PACKING_MS) await rm(lock, { recursive: true, force: true });
      await delay(100);
      continue;
    }
    for (const entry of await readdir(CACHE))
      if (!entry.startsWith(digest)) await rm(join(CACHE, entry), { recursive: true, force: true });
    try {
      const packed = packAsTheyAre(ROOT, lock);
      await writeFile(join(lock, LIST), JSON.stringify(packed));
      await rename(lock, directory);
    } catch (error) {
      await rm(lock, { recursive: true, force: true });
      throw error;
    }
  }
  return { directory, digest };
}

/** Of the path, size and time of each file that a package may contain. */
async function digestOfPackages(): Promise<string> {
  const hash = createHash("sha256");
  for (const { directory } of publicPackages(ROOT)) {
    const folder = join(ROOT, directory);
    const paths = await readdir(folder, { recursive: true });
    for (const path of paths.sort()) {
      if (/^(?:node_modules|\.turbo)\b/.test(path)) continue;
      const { size, mtimeMs } = await stat(join(folder, path));
      hash.update(`${directory}/${path} ${size} ${mtimeMs}\n`);
    }
  }
  return hash.digest("hex").slice(0, 16);
}

async function configuredRegistry(): Promise<string> {
  const { stdout } = await promisify(execFile)("npm", ["config", "get", "registry"], { cwd: ROOT });
  return stdout.trim().replace(/\/*$/, "/");
}
