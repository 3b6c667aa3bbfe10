import { existsSync, readFileSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { describe, expect, it } from "vitest";
import {
  dependenciesOf,
  type Manifest,
  manifests,
  packages,
  read,
  readJson,
  root,
} from "./support/project-files.ts";

/** Older versions have known vulnerabilities or lack a function that we use. */
const MINIMUM_VERSIONS: Readonly<Record<string, string>> = { multer: "2.3.0", sharp: "0.35.4" };

const ALLOWED_LICENSE = /^(?:MIT|MIT-0|ISC|0BSD|BSD-2-Clause|BSD-3-Clause|Apache-2\.0|BlueOak-1\.0\.0|Zlib)$/;
/** Its manifest names no licence; its readme says MIT. tus-js-client needs it. */
const MIT_BY_README = "combine-errors";
/**
 * The binaries of sharp contain libvips (LGPL), linked dynamically and replaceable. libheif-js (LGPL) comes with heic-decode, which a host
 * installs by choice. They are the only exceptions.
 */
const LGPL_BINARY = /^(?:@img\/sharp-(?:libvips-.+|win32-.+|wasm32)|libheif-js)$/;

interface LockEntry extends Omit<Manifest, "name"> {
  resolved?: string;
  hasInstallScript?: boolean;
  link?: boolean;
}

interface ScriptedManifest {
  scripts?: Record<string, string>;
}

const lock = readJson<{ packages: Record<string, LockEntry> }>("package-lock.json").packages;

describe("dependencies", () => {
  it("all runtime dependencies, direct and transitive, have a permissive licence", () => {
    const reached = runtimeClosure();
    expect(reached.length).toBeGreaterThan(20);
    const refused = reached.flatMap((path) => {
      const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
      const license = licenseOf(path);
      return name === MIT_BY_README || isAllowed(license, LGPL_BINARY.test(name)) ? [] : [`${name}: ${license}`];
    });
    expect(refused).toEqual([]);
  });

  it("no package that a user installs has an install script", () => {
    const others = runtimeClosure().filter((path) => lock[path]?.hasInstallScript === true);
    const own = packages.filter(({ path }) =>
      ["preinstall", "install", "postinstall"].some(
        (name) => name in (readJson<ScriptedManifest>(`${path}/package.json`).scripts ?? {}),
      ),
    );
    expect([...others, ...own]).toEqual([]);
    // The lock file names scripts: those of development.
    expect(Object.values(lock).some(({ hasInstallScript }) => hasInstallScript)).toBe(true);
  });

  it("all packages bundled into the pages have a permissive licence and are listed in licenses.md", () => {
    const licenses = [...read("packages/web/dist/assets/licenses.md").matchAll(/^## (.+) - \S+ \((.+)\)$/gm)];
    expect(licenses.map(([, name]) => name)).toContain("preact");
    expect(licenses.filter(([, , license = ""]) => !isAllowed(license, false)).map(([line]) => line)).toEqual(
      [],
    );
  });

  it.each(Object.entries(MINIMUM_VERSIONS))(
    "%s is at least %s in every manifest and in the lock file",
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

  it("the lock file contains no address of a registry", () => {
    const resolved = Object.entries(lock).filter(([, entry]) => entry.resolved !== undefined && !entry.link);
    expect(resolved.map(([path]) => path)).toEqual([]);
  });

  it("the lock file has the optional dependencies of every platform, which npm ci needs", () => {
    const missing = Object.entries(lock).flatMap(([path, entry]) =>
      Object.keys(entry.optionalDependencies ?? {}).filter((name) => resolve(path, name) === null),
    );
    expect(missing).toEqual([]);
  });
});

/** Lock file paths of all runtime dependencies on every platform, without the packages of this project. */
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

/** The lock file path that a dependency resolves to: in the own node_modules or one above. `null` if it is missing. */
function resolve(from: string, name: string): string | null {
  for (let folder = from; ; folder = dirname(folder)) {
    const path = folder === "" || folder === "." ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (path in lock) return path;
    if (folder === "" || folder === ".") return null;
  }
}

/** The licence in the installed manifest. Binaries for other platforms are not installed: the lock file has theirs. */
function licenseOf(path: string): string {
  const manifest = join(path.split("/").join(sep), "package.json");
  if (!existsSync(join(root, manifest))) return lock[path]?.license ?? "none named";
  const { license, licenses } = readJson<Manifest>(manifest);
  // Old packages have a list of licences.
  return license ?? licenses?.map(({ type }) => type).join(" OR ") ?? licenseInFile(dirname(manifest));
}

/** Some packages name their licence in the licence file only. */
function licenseInFile(directory: string): string {
  const path = join(root, directory, "LICENSE");
  return existsSync(path) && readFileSync(path, "utf8").startsWith("MIT License") ? "MIT" : "none named";
}

function isAllowed(license: string, isBinary: boolean): boolean {
  const choices = license.replace(/[()]/g, "").split(/\s+OR\s+/);
  return choices.some((choice) =>
    choice
      .split(/\s+AND\s+/)
      .every((id) => ALLOWED_LICENSE.test(id) || (isBinary && id.startsWith("LGPL-3.0"))),
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
