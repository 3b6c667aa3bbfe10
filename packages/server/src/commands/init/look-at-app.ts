import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { reasonOf } from "../../cli/error-reason.ts";
import { StartError } from "../../config/config-error.ts";
import { HOSTS, type Host, type HostName } from "./hosts.ts";

/** What `outrigger init` finds in a directory. */
export interface App {
  host: HostName;
  /** Whether `package.json` names no known framework. */
  isPlain: boolean;
  manager: Manager;
  /** `require` for CommonJS; TypeScript writes `import` for both. */
  syntax: "import" | "require";
  isTypeScript: boolean;
  /** Path of the main file, relative to the directory; `null` if it was not found. */
  main: string | null;
}

export type Manager = "npm" | "pnpm" | "yarn";

interface Manifest {
  type?: unknown;
  main?: unknown;
  packageManager?: unknown;
  workspaces?: unknown;
  scripts?: Record<string, unknown>;
  dependencies?: Record<string, unknown>;
  devDependencies?: Record<string, unknown>;
}

const LOCK_FILES: readonly (readonly [string, Manager])[] = [
  ["pnpm-lock.yaml", "pnpm"],
  ["yarn.lock", "yarn"],
  ["package-lock.json", "npm"],
];

const SOURCE = /[\w@./-]+\.[cm]?[jt]sx?\b/g;
const USUAL_FILES = ["ts", "mts", "js", "mjs", "cjs"].flatMap((end) =>
  ["main", "server", "app", "index"].flatMap((name) => [`src/${name}.${end}`, `${name}.${end}`]),
);

/**
 * Looks at the app in a directory. Changes nothing.
 * @param wanted The host as typed; absent: the one of `package.json`.
 * @throws StartError if there is no app, or several hosts fit.
 */
export function lookAtApp(directory: string, wanted?: HostName): App {
  const manifest = readManifest(directory);
  const names = [manifest.dependencies, manifest.devDependencies].flatMap((each) => Object.keys(each ?? {}));
  const found = hostsOf(names);
  const isRoot = manifest.workspaces !== undefined || existsSync(join(directory, "pnpm-workspace.yaml"));
  if (wanted === undefined && found.length === 0 && isRoot) {
    throw new StartError(
      `${directory} is the root of a monorepo and names no framework. Run outrigger init in the directory of the app`,
    );
  }
  if (wanted === undefined && found.length > 1) {
    const list = new Intl.ListFormat("en").format(found.map((name) => HOSTS[name].title));
    throw new StartError(
      `package.json names ${list}. Choose one: outrigger init --host ${found.join(" or ")}`,
    );
  }
  const host = wanted ?? found[0] ?? "node";
  const main = mainFileOf(directory, manifest, HOSTS[host]);
  const isTypeScript = main === null ? names.includes("typescript") : /\.[cm]?tsx?$/.test(main);
  return {
    host,
    isPlain: wanted === undefined && found.length === 0,
    manager: managerOf(directory, manifest),
    syntax: isTypeScript || isModule(directory, main, manifest) ? "import" : "require",
    isTypeScript,
    main,
  };
}

function readManifest(directory: string): Manifest {
  const path = join(directory, "package.json");
  if (!existsSync(path)) {
    throw new StartError(
      `There is no package.json in ${directory}. Run outrigger init in the directory of the app`,
    );
  }
  try {
    const manifest: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (typeof manifest === "object" && manifest !== null) return manifest;
  } catch (cause) {
    throw new StartError(`${path} cannot be read: ${reasonOf(cause)}`, { cause });
  }
  throw new StartError(`${path} is not an object`);
}

/** NestJS apps may name the framework below it, too. */
function hostsOf(names: readonly string[]): HostName[] {
  const all = Object.entries<Host>(HOSTS).filter(([, { signs }]) =>
    signs.some((sign) => names.includes(sign)),
  );
  const found = all.map(([name]) => name as HostName); // The keys of HOSTS.
  return found.includes("nest") ? found.filter((name) => name !== "express" && name !== "fastify") : found;
}

/** By the field `packageManager`, otherwise by the lock file here or in a directory above. */
function managerOf(directory: string, { packageManager }: Manifest): Manager {
  const [, named] = /^(npm|pnpm|yarn)@/.exec(String(packageManager)) ?? [];
  if (named !== undefined) return named as Manager; // One of the three by the expression.
  const found = LOCK_FILES.find(([file]) => existsSync(join(directory, file)));
  if (found !== undefined) return found[1];
  return dirname(directory) === directory ? "npm" : managerOf(dirname(directory), {});
}

/** The first file of the scripts, of `main` and of the usual names that mentions the host; otherwise the first that exists. */
function mainFileOf(directory: string, { scripts, main }: Manifest, { signs }: Host): string | null {
  const started = ["start", "dev", "start:dev"].flatMap(
    (name) => String(scripts?.[name] ?? "").match(SOURCE) ?? [],
  );
  const named = [...started, ...(typeof main === "string" ? [main] : []), ...USUAL_FILES];
  const files = named
    .map((path) => path.replace(/^\.\//, ""))
    .filter((path) => existsSync(join(directory, path)));
  const mentions = (path: string) => {
    const text = readFileSync(join(directory, path), "utf8");
    return signs.some((sign) => text.includes(`"${sign}"`) || text.includes(`'${sign}'`));
  };
  return files.find(mentions) ?? files[0] ?? null;
}

/** By the suffix of the file, its text, and the field `type`. */
function isModule(directory: string, main: string | null, { type }: Manifest): boolean {
  if (main !== null && /\.mjs$/.test(basename(main))) return true;
  if (main !== null && /\.cjs$/.test(basename(main))) return false;
  if (main !== null && /^import\s/m.test(readFileSync(join(directory, main), "utf8"))) return true;
  return type === "module";
}
