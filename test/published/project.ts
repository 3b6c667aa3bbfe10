import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { Registry } from "./registry.ts";

export interface ProjectOptions {
  /** Packages of this checkout, and names of `foreign-packages.json`. */
  dependencies: readonly string[];
  /** Path to content. Written before the installation. */
  files?: Readonly<Record<string, string>>;
  /** More fields of package.json, such as `type` and `scripts`. @default `type: "module"` */
  manifest?: Readonly<Record<string, unknown>>;
  /** The program that installs, with its arguments. @default npm */
  install?: readonly [program: string, ...args: string[]];
}

/** A user's app, outside the checkout. */
export interface Project {
  directory: string;
  /** The version of a package that is installed, by the name in `node_modules`. */
  versionOf(name: string): Promise<string>;
  close(): Promise<void>;
}

const FOREIGN = new URL("foreign-packages.json", import.meta.url);
const NPM = ["npm", "install", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"] as const;

/**
 * Installs `dependencies` into a new directory: our packages from `registry`, the others at the exact versions of
 * `foreign-packages.json`.
 */
export async function blankProject(
  registry: Registry,
  { dependencies, files = {}, manifest = { type: "module" }, install = NPM }: ProjectOptions,
): Promise<Project> {
  const foreign: Record<string, string> = JSON.parse(await readFile(FOREIGN, "utf8"));
  const specs = dependencies.map((name) => {
    const own = registry.packages.get(name);
    const spec = own === undefined ? foreign[name] : `^${own}`;
    if (spec === undefined) throw new Error(`foreign-packages.json has no version of ${name}`);
    // npm takes a registry for a scope. This package has no scope.
    const tarball = `${registry.url}-/${name}-${own}.tgz`;
    return [name, name === "outrigger" ? tarball : spec] as const;
  });
  const directory = await mkdtemp(join(tmpdir(), "outrigger-published-"));
  const close = () => rm(directory, { recursive: true, force: true });
  const all = {
    "package.json": JSON.stringify({
      name: "blank-project",
      version: "1.0.0",
      private: true,
      ...manifest,
      dependencies: Object.fromEntries(specs),
    }),
    ".npmrc": `@outrigger:registry=${registry.url}\n`,
    ...files,
  };
  try {
    for (const [path, content] of Object.entries(all)) {
      await mkdir(dirname(join(directory, path)), { recursive: true });
      await writeFile(join(directory, path), content);
    }
    const [program, ...args] = install;
    await runIn(directory, program, args);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    directory,
    close,
    async versionOf(name) {
      const text = await readFile(join(directory, "node_modules", name, "package.json"), "utf8");
      return (JSON.parse(text) as { version: string }).version;
    },
  };
}

/**
 * Runs a program to its end, and returns its output and its error output. Rejects with them if it fails.
 * @param own Environment in addition to that of this process.
 */
export async function runIn(
  directory: string,
  program: string,
  args: readonly string[],
  own: NodeJS.ProcessEnv = {},
): Promise<string> {
  // The workspace's settings, which npm passes to what it runs, are not those of another project.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(?:npm_|INIT_CWD|NODE_ENV|VITEST)/i.test(name)),
  );
  const options = { cwd: directory, env: { ...env, ...own }, maxBuffer: 64 * 1024 * 1024 };
  const { stdout, stderr } = await promisify(execFile)(program, [...args], options).catch((error) => {
    throw new Error(`${program} ${args.join(" ")} failed:\n${error.stdout}${error.stderr}`);
  });
  return stdout + stderr;
}
