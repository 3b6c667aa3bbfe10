import { lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { HEIC_PACKAGES, modulesAbove, ownRoot, readManifest, rootOf } from "../../package-roots.ts";
import type { NodeProgram } from "../node-program.ts";

/** The files of the host that a sandbox shows, all read-only. */
export interface VisibleFiles {
  /** Files and directories by the path at which they appear. `from` is their real path. */
  paths: readonly { path: string; from: string; isDirectory: boolean }[];
  /** Symbolic links to create. */
  links: readonly { path: string; target: string }[];
}

const LOADER_FILES = ["/etc/ld.so.cache", "/etc/ld-musl-x86_64.path", "/etc/ld-musl-aarch64.path"];
/** Where programs expect the dynamic loader and the libraries. Often links into /usr. */
const LIBRARY_ROOTS = ["/lib", "/lib32", "/lib64", "/libx32"];

const cache = new Map<string, VisibleFiles>();

/** Node, this package, its libraries, the system's shared libraries, and the fonts. Never the folder of the app. */
export function visibleFiles(environment: NodeJS.ProcessEnv, node: NodeProgram): VisibleFiles {
  // Only the fonts depend on the environment.
  const key = JSON.stringify([node.path, environment]);
  const known = cache.get(key);
  if (known !== undefined) return known;
  const wanted = [
    node.path,
    ...codeDirectories(),
    ...mappedLibraries(node),
    ...LOADER_FILES,
    ...visibleFonts(environment),
  ];
  const files = { paths: outermost(wanted), links: libraryLinks() };
  cache.set(key, files);
  return files;
}

/** This package, core and their dependencies, with each `node_modules` on the way up from them. */
function codeDirectories(): string[] {
  const own = ownRoot();
  const roots = [own, installedRoot("@outrigger/core", own)];
  const direct = roots.flatMap((root) => {
    const { dependencies = {} } = readManifest(root);
    return Object.keys(dependencies).map((name) => installedRoot(name, root));
  });
  const heic: string[] = [];
  for (const name of HEIC_PACKAGES) {
    const root = rootOf(name, heic[0] ?? own);
    if (root !== null) heic.push(root);
  }
  return [...new Set([...roots, ...direct, ...heic])].flatMap((root) => [
    root,
    ...modulesAbove(dirname(root)),
  ]);
}

function installedRoot(name: string, from: string): string {
  const root = rootOf(name, from);
  if (root === null) throw new Error(`${name} is not installed`);
  return root;
}

/** Directories of the shared libraries of Node. A dependency's own libraries are in its package. */
function mappedLibraries({ maps }: NodeProgram): string[] {
  const paths = maps
    .split("\n")
    .map((line) => line.slice(line.indexOf("/")))
    .filter((path) => /\.so(?:\.[\d.]+)?$/.test(path) && !path.includes("/node_modules/"));
  return [...new Set(paths.map((path) => dirname(path)))];
}

/** The links among {@link LIBRARY_ROOTS}. Those that are directories are visible where libraries are in them. */
function libraryLinks(): VisibleFiles["links"] {
  return LIBRARY_ROOTS.flatMap((path) => {
    try {
      return [{ path, target: readlinkSync(path) }];
    } catch {
      // A directory, or missing.
      return [];
    }
  });
}

/**
 * Drops missing paths and those within others. A link within another path is visible already; its target is added
 * instead.
 */
function outermost(wanted: readonly string[]): VisibleFiles["paths"] {
  const found = [...new Set([...wanted, ...loaders()])].flatMap((path) => {
    try {
      const from = realpathSync(path);
      return [{ path, from, isDirectory: lstatSync(from).isDirectory() }];
    } catch {
      // Not installed here.
      return [];
    }
  });
  const isWithinAnother = (path: string) =>
    found.some((other) => other.isDirectory && path.startsWith(`${other.path}/`));
  const outer = found.flatMap((each) => {
    const shown = isWithinAnother(each.path) ? { ...each, path: each.from } : each;
    return isWithinAnother(shown.path) ? [] : [shown];
  });
  return [...new Map(outer.map((each) => [each.path, each])).values()];
}

/** Dynamic loaders, often links in a directory without libraries. */
function loaders(): string[] {
  return LIBRARY_ROOTS.flatMap((root) => {
    try {
      const directory = realpathSync(root);
      const names = readdirSync(directory).filter((name) => /^ld-.*\.so/.test(name));
      return names.map((name) => join(directory, name));
    } catch {
      // No such directory.
      return [];
    }
  });
}

const CONFIG = "/etc/fonts";
/** What fontconfig reads without a configuration, and the files that the links in its configuration lead to. */
const DEFAULTS = ["/usr/share/fonts", "/usr/local/share/fonts", "/usr/share/fontconfig"];
const ELEMENT = /<(dir|cachedir|include)\b([^>]*)>([^<]+)<\//g;

/** The configuration of fontconfig, the directories of fonts that it names, and its caches. They may be missing. */
function visibleFonts(environment: NodeJS.ProcessEnv): string[] {
  const { HOME: home = "/" } = environment;
  const bases: Record<string, string> = {
    dir: environment.XDG_DATA_HOME ?? join(home, ".local/share"),
    cachedir: environment.XDG_CACHE_HOME ?? join(home, ".cache"),
    include: environment.XDG_CONFIG_HOME ?? join(home, ".config"),
  };
  const visible = new Set<string>([CONFIG, ...DEFAULTS]);

  function readConfig(path: string): void {
    if (visible.has(path) && path !== CONFIG) return;
    visible.add(path);
    let text: string;
    try {
      if (statSync(path).isDirectory()) {
        for (const name of readdirSync(path)) if (name.endsWith(".conf")) readConfig(join(path, name));
        return;
      }
      text = readFileSync(path, "utf8");
    } catch {
      // fontconfig ignores it, too.
      return;
    }
    for (const [, name = "", attributes = "", value = ""] of text.matchAll(ELEMENT)) {
      const target = locate(name, attributes, value.trim(), path);
      if (name === "include") readConfig(target);
      else visible.add(target);
    }
  }

  function locate(name: string, attributes: string, value: string, config: string): string {
    if (value.startsWith("~")) return join(home, value.slice(1));
    if (isAbsolute(value)) return value;
    return join(attributes.includes('"xdg"') ? (bases[name] ?? home) : dirname(config), value);
  }

  const directory = environment.FONTCONFIG_PATH ?? CONFIG;
  const file = environment.FONTCONFIG_FILE ?? "fonts.conf";
  readConfig(isAbsolute(file) ? file : join(directory, file));
  return [...visible];
}
