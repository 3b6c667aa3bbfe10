import { existsSync, readdirSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export interface Manifest {
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

export const root = fileURLToPath(new URL("../..", import.meta.url));
export const packages = workspaces("packages");
export const manifests = [
  { path: "", manifest: readJson<Manifest>("package.json") },
  ...packages,
  ...workspaces("examples"),
];
/** Paths of all files that a clone would hold. */
export const files = projectFiles("");

export function read(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

export function readJson<T>(path: string): T {
  // Files of this project and of npm, whose shape is known.
  return JSON.parse(read(path)) as T;
}

export function workspaces(directory: string): { path: string; manifest: Manifest }[] {
  // Git stores no empty directory.
  if (!existsSync(join(root, directory))) return [];
  return readdirSync(join(root, directory))
    .map((name) => `${directory}/${name}`)
    .filter((path) => existsSync(join(root, path, "package.json")))
    .map((path) => ({ path, manifest: readJson<Manifest>(`${path}/package.json`) }));
}

/** Paths of the files that Git tracks or would track: .gitignore excludes the others. */
export function projectFiles(directory: string): string[] {
  return readdirSync(join(root, directory), { withFileTypes: true }).flatMap((entry) => {
    const path = directory === "" ? entry.name : `${directory}/${entry.name}`;
    if (/^(?:\.git|node_modules|dist|\.turbo|coverage)$/.test(entry.name) || path === "data") return [];
    if (entry.isDirectory()) return projectFiles(path);
    return entry.isFile() && !entry.name.endsWith(".tsbuildinfo") ? [path] : [];
  });
}

export function sourcesOf(path: string): string[] {
  const folders = [`${path}/src/`, `${path}/bin/`];
  return files.filter(
    (file) => folders.some((folder) => file.startsWith(folder)) && /\.[mc]?[jt]s$/.test(file),
  );
}

export function isTest(file: string): boolean {
  return /\.test\.\w+$/.test(file);
}

/** Names of the imported packages, including type imports and without the modules of Node. */
export function importsOf(sources: readonly string[]): string[] {
  const patterns = [
    /^(?:import|export)\b[^;"]*?\bfrom\s+"([^"]+)"/gm,
    /^import\s+"([^"]+)"/gm,
    // Lines that begin with a star or with slashes are comments.
    /^(?!\s*(?:\*|\/\/)).*?\b(?:import|require|require\.resolve|import\.meta\.resolve)\(\s*(?:\/\*.*?\*\/\s*)?"([^"]+)"/gm,
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

export function dependenciesOf(manifest: Omit<Manifest, "name">): Record<string, string> {
  return { ...manifest.peerDependencies, ...manifest.optionalDependencies, ...manifest.dependencies };
}
