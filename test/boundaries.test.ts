import { existsSync, readdirSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

/** Siblings that a package may import; the others may import core only. */
const MAY_IMPORT: Readonly<Record<string, readonly string[] | "all">> = {
  client: [],
  core: [],
  express: ["core", "node"],
  koa: ["core", "node"],
  server: "all",
};

/** Files that hand an allow-listed environment to child processes. */
const MAY_READ_ENVIRONMENT = ["packages/imaging/src/pool/fork-worker.ts"];

/** Versions below these have known holes or lack what we rely on. */
const MINIMUM_VERSIONS: Readonly<Record<string, string>> = { multer: "2.3.0", sharp: "0.35.4" };

const ALLOWED_LICENSE = /^(?:MIT|MIT-0|ISC|0BSD|BSD-2-Clause|BSD-3-Clause|Apache-2\.0|Zlib)$/;
/** Sharp's binaries, which hold libvips: LGPL, linked dynamically and replaceable. The one exception. */
const LGPL_BINARY = /^@img\/sharp-(?:libvips-.+|win32-.+|wasm32)$/;

const NODE_RANGE = ">=20.19";
const MAX_LINES = 300;

interface Manifest {
  name: string;
  version?: string;
  license?: string;
  licenses?: { type: string }[];
  bin?: Record<string, string>;
  engines?: Record<string, string>;
  exports?: Record<string, string | Record<string, string>>;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

interface LockEntry extends Omit<Manifest, "name"> {
  resolved?: string;
  link?: boolean;
}

const root = fileURLToPath(new URL("..", import.meta.url));
const rootManifest = readJson<Manifest>("package.json");
const lock = readJson<{ packages: Record<string, LockEntry> }>("package-lock.json").packages;
const packages = workspaces("packages");
const manifests = [{ path: "", manifest: rootManifest }, ...packages, ...workspaces("examples")];
const files = projectFiles("");

describe("packages", () => {
  it.each(packages)("$path imports only the siblings that it may", ({ path, manifest }) => {
    const name = path.slice("packages/".length);
    const allowed = MAY_IMPORT[name] ?? ["core"];
    const siblings = packages.map((sibling) => sibling.manifest.name);
    const used = [...importsOf(sourcesOf(path)), ...Object.keys(dependenciesOf(manifest))];
    const forbidden = used.filter(
      (used) =>
        siblings.includes(used) &&
        used !== manifest.name &&
        allowed !== "all" &&
        !allowed.includes(used.slice("@outrigger/".length)),
    );
    expect(forbidden).toEqual([]);
  });

  it.each(packages)("$path declares what it imports and imports what it declares", ({ path, manifest }) => {
    const used = importsOf(sourcesOf(path).filter((file) => !isTest(file)));
    const declared = Object.keys(dependenciesOf(manifest));
    expect(used.filter((name) => !declared.includes(name))).toEqual([]);
    expect(declared.filter((name) => !used.includes(name))).toEqual([]);
  });

  it("take core as a caret peer, so an app holds one copy; the server is an app", () => {
    const core = packages.find(({ path }) => path === "packages/core")?.manifest;
    const asked = packages.flatMap(({ path, manifest }) => {
      const own = { ...manifest.dependencies, ...manifest.optionalDependencies }["@outrigger/core"];
      const peer = manifest.peerDependencies?.["@outrigger/core"];
      return own === undefined && peer === undefined ? [] : [{ path, own, peer }];
    });
    expect(asked.length).toBeGreaterThan(5);
    for (const { path, own, peer } of asked) {
      const version = core?.version ?? "none";
      const caret = `^${version}`;
      const wanted =
        path === "packages/server" ? { own: caret, peer: undefined } : { own: undefined, peer: caret };
      expect({ path, own, peer }).toEqual({ path, ...wanted });
    }
  });

  it.each(packages)("$path exports one source file per entry", ({ path, manifest }) => {
    for (const [entry, target] of Object.entries(manifest.exports ?? {})) {
      if (entry === "./package.json") continue;
      const name = entry === "." ? "index" : entry.slice("./".length);
      // The order counts: TypeScript takes the first condition that fits.
      expect(Object.entries(target)).toEqual([
        ["types", `./dist/${name}.d.ts`],
        ["default", `./dist/${name}.js`],
      ]);
      expect(existsSync(join(root, path, "src", `${name}.ts`))).toBe(true);
    }
    expect(Object.keys(manifest.exports ?? {})).toContain(".");
    for (const target of Object.values(manifest.bin ?? {})) {
      expect(existsSync(join(root, path, target))).toBe(true);
    }
  });

  it.each(manifests)("$path/package.json asks for Node 20.19 or newer", ({ manifest }) => {
    expect(manifest.engines).toEqual({ node: NODE_RANGE });
  });

  it.each(packages)("$path has a README that names it", ({ path, manifest }) => {
    expect(read(`${path}/README.md`)).toContain(`# ${manifest.name}\n`);
  });
});

describe("dependencies", () => {
  it("are under a permissive licence, with all that they bring along at run time", () => {
    const reached = runtimeClosure();
    expect(reached.length).toBeGreaterThan(20);
    const refused = reached.flatMap((path) => {
      const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
      const license = licenseOf(path);
      return isAllowed(license, LGPL_BINARY.test(name)) ? [] : [`${name}: ${license}`];
    });
    expect(refused).toEqual([]);
  });

  it("are under a permissive licence too where they are built into the pages, and named there", () => {
    const licenses = [...read("packages/web/dist/assets/licenses.md").matchAll(/^## (.+) - \S+ \((.+)\)$/gm)];
    expect(licenses.map(([, name]) => name)).toContain("preact");
    expect(licenses.filter(([, , license = ""]) => !isAllowed(license, false)).map(([line]) => line)).toEqual(
      [],
    );
  });

  it.each(Object.entries(MINIMUM_VERSIONS))(
    "%s is at least %s wherever we ask for it and as it is locked",
    (name, minimum) => {
      const asked = manifests.flatMap(({ manifest }) => {
        const range = { ...manifest.devDependencies, ...dependenciesOf(manifest) }[name];
        return range === undefined ? [] : [range];
      });
      const locked = runtimeClosure().flatMap((path) =>
        path.endsWith(`node_modules/${name}`) ? [lock[path]?.version ?? ""] : [],
      );
      expect(asked.length).toBeGreaterThan(0);
      for (const version of [...asked, ...locked]) {
        expect(isAtLeast(version, minimum), `${name} ${version}`).toBe(true);
      }
    },
  );

  it("are locked without the address of a registry", () => {
    const resolved = Object.entries(lock).filter(([, entry]) => entry.resolved !== undefined && !entry.link);
    expect(resolved.map(([path]) => path)).toEqual([]);
  });

  it("are locked for every platform, or npm ci would refuse", () => {
    const missing = Object.entries(lock).flatMap(([path, entry]) =>
      Object.keys(entry.optionalDependencies ?? {}).filter((name) => resolve(path, name) === null),
    );
    expect(missing).toEqual([]);
  });
});

describe("sources", () => {
  it("read the environment in the server package only", () => {
    const readers = packages
      .filter(({ path }) => path !== "packages/server")
      .flatMap(({ path }) => sourcesOf(path))
      .filter((file) => !isTest(file) && !MAY_READ_ENVIRONMENT.includes(file))
      .filter((file) => /\bprocess\??\.env\b|\bprocess\[|\benv\b[^;]*from "node:process"/.test(read(file)));
    expect(readers).toEqual([]);
  });

  it("recognise errors by code, for another realm's are no instanceof Error", () => {
    const sources = packages.flatMap(({ path }) => sourcesOf(path)).filter((file) => !isTest(file));
    expect(sources.filter((file) => /\w instanceof (?:Service)?Error\b/.test(read(file)))).toEqual([]);
  });

  it(`have at most ${MAX_LINES} lines`, () => {
    const sources = files.filter((file) => /\.[mc]?[jt]sx?$/.test(file) && !isTest(file));
    expect(sources.length).toBeGreaterThan(20);
    expect(sources.filter((file) => read(file).trimEnd().split("\n").length > MAX_LINES)).toEqual([]);
  });

  it("name no machine's paths and no registry's host", () => {
    // Written so that this file does not match itself.
    const path = /(?<![\w.~}/-])\/(?:home|Users|root|w[o]rk|f[a]rm)\/[\w.-]/;
    const host = /registry\.[a-z]+js\.|registry\.y[a]rnpkg\.|deb\.[a-z]+\.org|archive\.ubuntu\./;
    const naming = files.filter((file) => {
      const text = read(file);
      return !text.includes("\0") && (path.test(text) || host.test(text));
    });
    expect(naming).toEqual([]);
  });
});

function read(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

function readJson<T>(path: string): T {
  // Files of this project and of npm, whose shape is known.
  return JSON.parse(read(path)) as T;
}

function workspaces(directory: string): { path: string; manifest: Manifest }[] {
  // Git keeps no empty directory.
  if (!existsSync(join(root, directory))) return [];
  return readdirSync(join(root, directory))
    .map((name) => `${directory}/${name}`)
    .filter((path) => existsSync(join(root, path, "package.json")))
    .map((path) => ({ path, manifest: readJson<Manifest>(`${path}/package.json`) }));
}

/** What a clone would hold: everything but what .gitignore names. */
function projectFiles(directory: string): string[] {
  return readdirSync(join(root, directory), { withFileTypes: true }).flatMap((entry) => {
    const path = directory === "" ? entry.name : `${directory}/${entry.name}`;
    if (/^(?:\.git|node_modules|dist|\.turbo|coverage)$/.test(entry.name) || path === "data") return [];
    if (entry.isDirectory()) return projectFiles(path);
    return entry.isFile() && !entry.name.endsWith(".tsbuildinfo") ? [path] : [];
  });
}

function sourcesOf(path: string): string[] {
  const folders = [`${path}/src/`, `${path}/bin/`];
  return files.filter(
    (file) => folders.some((folder) => file.startsWith(folder)) && /\.[mc]?[jt]s$/.test(file),
  );
}

function isTest(file: string): boolean {
  return /\.test\.\w+$/.test(file);
}

/** Names of the packages that are imported, types included; Node's own are left out. */
function importsOf(sources: readonly string[]): string[] {
  const patterns = [
    /^(?:import|export)\b[^;"]*?\bfrom\s+"([^"]+)"/gm,
    /^import\s+"([^"]+)"/gm,
    // Not in comments, whose lines begin with a star or with slashes.
    /^(?!\s*(?:\*|\/\/)).*?\b(?:import|require|require\.resolve|import\.meta\.resolve)\(\s*"([^"]+)"/gm,
  ];
  const specifiers = sources.flatMap((file) => {
    const text = read(file);
    return patterns.flatMap((pattern) => [...text.matchAll(pattern)].map((found) => found[1] ?? ""));
  });
  const names = specifiers
    .filter((specifier) => !specifier.startsWith(".") && !isBuiltin(specifier))
    .map((specifier) => specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/"));
  return [...new Set(names)];
}

function dependenciesOf(manifest: Omit<Manifest, "name">): Record<string, string> {
  return { ...manifest.peerDependencies, ...manifest.optionalDependencies, ...manifest.dependencies };
}

/** Paths in the lock file of all that our packages need at run time, on any platform; our own left out. */
function runtimeClosure(): string[] {
  const reached = new Set<string>();
  const waiting = packages.map(({ path }) => path);
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (reached.has(path)) continue;
    reached.add(path);
    for (const name of Object.keys(dependenciesOf(lock[path] ?? {}))) {
      const found = resolve(path, name);
      if (found !== null) waiting.push(found);
    }
  }
  return [...reached].filter((path) => path.includes("node_modules/") && !lock[path]?.link);
}

/** Where a package finds another: in its own node_modules or in one above. */
function resolve(from: string, name: string): string | null {
  for (let folder = from; ; folder = dirname(folder)) {
    const path = folder === "" || folder === "." ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (path in lock) return path;
    if (folder === "" || folder === ".") return null;
  }
}

/** As the installed package says; binaries for other platforms are not installed, there the lock file says it. */
function licenseOf(path: string): string {
  const manifest = join(path.split("/").join(sep), "package.json");
  if (!existsSync(join(root, manifest))) return lock[path]?.license ?? "none named";
  const { license, licenses } = readJson<Manifest>(manifest);
  // Old packages have a list.
  return license ?? licenses?.map(({ type }) => type).join(" OR ") ?? licenseInFile(dirname(manifest));
}

/** Some name it only in the text that the licence itself wants to be kept. */
function licenseInFile(directory: string): string {
  const path = join(root, directory, "LICENSE");
  return existsSync(path) && readFileSync(path, "utf8").startsWith("MIT License") ? "MIT" : "none named";
}

function isAllowed(license: string, isBinary: boolean): boolean {
  const choices = license.replace(/[()]/g, "").split(/\s+OR\s+/);
  return choices.some((choice) =>
    choice
      .split(/\s+AND\s+/)
      .every((id) => ALLOWED_LICENSE.test(id) || (isBinary && id === "LGPL-3.0-or-later")),
  );
}

/** Whether a version, or the lowest of a range such as `^1.2.3`, is at least `minimum`. */
function isAtLeast(range: string, minimum: string): boolean {
  const found = /^[\^~]?(\d+)\.(\d+)\.(\d+)/.exec(range)?.slice(1).map(Number) ?? [];
  for (const [index, part] of minimum.split(".").map(Number).entries()) {
    const difference = (found[index] ?? -1) - part;
    if (difference !== 0) return difference > 0;
  }
  return true;
}
