import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { systemCode } from "@outrigger/core/values";
import { StartError } from "../config/config-error.ts";
import { tooManyOpenFiles } from "./open-files.ts";
import { readOwnPackage } from "./own-package.ts";

/** A part of a server that is installed separately. The commands for a running service need none. */
export type Part = "server" | "observers" | "lookup" | "verifier" | "postgres" | "redis" | "s3";

/** Loads a package. */
type Load = () => Promise<unknown>;

const sql: Record<string, Load> = { "@outrigger/sql": () => import("@outrigger/sql") };

/** The packages of each part: optional peers of this package. */
const PARTS: Readonly<Record<Part, { subject: string; packages: Readonly<Record<string, Load>> }>> = {
  server: {
    subject: "a server",
    packages: {
      "@outrigger/express": () => import("@outrigger/express"),
      "@outrigger/imaging": () => import("@outrigger/imaging"),
      "@outrigger/node": () => import("@outrigger/node"),
      "@outrigger/web": () => import("@outrigger/web"),
      express: () => import("express"),
      pino: () => import("pino"),
    },
  },
  observers: {
    subject: "metrics and traces",
    packages: { "@outrigger/telemetry": () => import("@outrigger/telemetry") },
  },
  lookup: { subject: "the email lookup", packages: sql },
  verifier: {
    subject: "the email lookup",
    packages: { "@outrigger/verifier": () => import("@outrigger/verifier") },
  },
  postgres: { subject: "storage in PostgreSQL", packages: sql },
  redis: {
    subject: "storage in Redis",
    packages: { "@outrigger/redis": () => import("@outrigger/redis") },
  },
  s3: {
    subject: "storage in S3",
    packages: {
      "@outrigger/s3": () => import("@outrigger/s3"),
      "@aws-sdk/client-s3": () => import("@aws-sdk/client-s3"),
    },
  },
};

/** Major versions of packages that are not part of this project. The peer ranges allow any, since apps use others. */
const MAJORS: Readonly<Record<string, number>> = {
  "@aws-sdk/client-s3": 3,
  express: 5,
  pino: 10,
};

/** Loads the packages of these parts. @throws StartError with the line that installs all missing ones. */
export async function requireParts(parts: readonly Part[]): Promise<void> {
  const wanted = parts.map((part) => PARTS[part]);
  const loads: Record<string, Load> = Object.assign({}, ...wanted.map(({ packages }) => packages));
  const found = await Promise.all(
    Object.entries(loads).map(async ([name, load]) => ({ name, state: await stateOf(name, load) })),
  );
  const other = found.find(({ state }) => typeof state === "string");
  if (other !== undefined) {
    throw new StartError(
      `A server needs ${other.name} ${MAJORS[other.name]}, but this directory has ${other.name} ${other.state}. Install outrigger in a directory of its own`,
    );
  }
  const missing = found.filter(({ state }) => state !== null);
  const [first] = missing;
  if (first === undefined) return;
  const cause = first.state;
  // Below that limit, Node.js reports installed packages as missing.
  if (tooManyOpenFiles(cause) !== null) throw cause;
  const names = missing.map(({ name }) => name);
  const lacking = wanted.filter(({ packages }) => names.some((name) => name in packages));
  const subjects = new Set(lacking.map(({ subject }) => subject));
  throw new StartError(lackText([...subjects], names), { cause });
}

/** `null` for an installed package, its version if that is an unsuitable one, the error for a missing package. */
async function stateOf(name: string, load: Load): Promise<null | string | Error> {
  try {
    await load();
  } catch (error) {
    // Other errors are thrown again where the package is used.
    return isMissing(name, error) ? error : null;
  }
  const version = versionOf(name);
  return version === null || Number.parseInt(version, 10) === MAJORS[name] ? null : version;
}

/** The installed version of a package outside this project; `null` if it does not tell. */
function versionOf(name: string): string | null {
  if (!(name in MAJORS)) return null;
  try {
    return createRequire(import.meta.url)(`${name}/package.json`).version;
  } catch {
    // Its exports do not include the manifest.
    return null;
  }
}

/** Loads a module that needs a part. @throws StartError as {@link requireParts} does. */
export async function loadPart<T>(part: Part, load: () => Promise<T>): Promise<T> {
  await requireParts([part]);
  return load();
}

/** Loads a package; `null` if it is not installed. */
export async function ifInstalled<T>(name: string, load: () => Promise<T>): Promise<T | null> {
  return load().catch((error) => {
    if (isMissing(name, error)) return null;
    throw error;
  });
}

/** Whether the error reports that this package, and not one of its own dependencies, is missing. */
function isMissing(name: string, error: unknown): error is Error {
  return systemCode(error) === "ERR_MODULE_NOT_FOUND" && String(error).includes(`'${name}'`);
}

function lackText(subjects: readonly string[], names: readonly string[]): string {
  const subject = new Intl.ListFormat("en").format(subjects);
  const verb = subjects.length === 1 ? "needs" : "need";
  const [first = "", ...rest] = `${subject} ${verb} packages that are not installed`;
  return `${first.toUpperCase()}${rest.join("")}. Install them: ${installLine(names)}`;
}

/** The line that installs packages where this command finds them. */
export function installLine(names: readonly string[]): string {
  const { version } = readOwnPackage();
  const own = fileURLToPath(new URL("../..", import.meta.url));
  const [project = own] = own.split(`${sep}node_modules${sep}`);
  const isGlobal = project !== own && !existsSync(join(project, "package.json"));
  // npx keeps the command in a directory of its own, where packages of the project are not found.
  const itself = own.includes(`${sep}_npx${sep}`) ? [`outrigger@${version}`] : [];
  // The packages of this project are released together.
  const versioned = names.map((name) => `${name}@${MAJORS[name] ?? version}`);
  return ["npm install", ...(isGlobal ? ["-g"] : []), ...itself, ...versioned].join(" ");
}
