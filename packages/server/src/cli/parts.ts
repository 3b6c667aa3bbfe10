import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { systemCode } from "@outrigger/core/values";
import { StartError } from "../config/config-error.ts";
import { tooManyOpenFiles } from "./open-files.ts";
import { readOwnPackage } from "./own-package.ts";

/** A part of a server that is installed separately. */
export type Part = "server" | "metrics" | "lookup" | "verifier" | "postgres" | "redis" | "s3";

/** The optional peers of this package. */
const LOADS: Readonly<Record<string, () => Promise<unknown>>> = {
  "@outrigger/express": () => import("@outrigger/express"),
  "@outrigger/imaging": () => import("@outrigger/imaging"),
  "@outrigger/node": () => import("@outrigger/node"),
  "@outrigger/web": () => import("@outrigger/web"),
  express: () => import("express"),
  pino: () => import("pino"),
  "@outrigger/telemetry": () => import("@outrigger/telemetry"),
  "prom-client": () => import("prom-client"),
  "@outrigger/sql": () => import("@outrigger/sql"),
  "@outrigger/verifier": () => import("@outrigger/verifier"),
  "@outrigger/redis": () => import("@outrigger/redis"),
  "@outrigger/s3": () => import("@outrigger/s3"),
  "@aws-sdk/client-s3": () => import("@aws-sdk/client-s3"),
};

/** What each part is called, and its packages. */
const PARTS: Readonly<Record<Part, readonly [subject: string, ...packages: string[]]>> = {
  server: [
    "a server",
    ...["@outrigger/express", "@outrigger/imaging", "@outrigger/node", "@outrigger/web", "express", "pino"],
  ],
  metrics: ["metrics", "@outrigger/telemetry", "prom-client"],
  lookup: ["the email lookup", "@outrigger/sql"],
  verifier: ["the email lookup", "@outrigger/verifier"],
  postgres: ["storage in PostgreSQL", "@outrigger/sql"],
  redis: ["storage in Redis", "@outrigger/redis"],
  s3: ["storage in S3", "@outrigger/s3", "@aws-sdk/client-s3"],
};

/** Major versions of packages that are not part of this project. The peer ranges allow any, since apps use others. */
const MAJORS: Readonly<Record<string, number>> = {
  "@aws-sdk/client-s3": 3,
  express: 5,
  pino: 10,
  "prom-client": 15,
};

/** Loads the packages of these parts. @throws StartError with the line that installs all missing ones. */
export async function requireParts(parts: readonly Part[]): Promise<void> {
  const wanted = parts.map((part) => PARTS[part]);
  const packages = [...new Set(wanted.flatMap(([, ...names]) => names))];
  const states = await Promise.all(packages.map(async (name) => ({ name, state: await stateOf(name) })));
  const other = states.find(({ state }) => typeof state === "string");
  if (other !== undefined) {
    throw new StartError(
      `A server needs ${other.name} ${MAJORS[other.name]}, but this directory has ${other.name} ${other.state}. Install outrigger in a directory of its own`,
    );
  }
  const missing = states.filter(({ state }) => state !== null);
  if (missing[0] === undefined) return;
  const cause = missing[0].state;
  // Below that limit, Node.js reports installed packages as missing.
  if (tooManyOpenFiles(cause) !== null) throw cause;
  const names = missing.map(({ name }) => name);
  const lacking = wanted.filter(([, ...own]) => own.some((name) => names.includes(name)));
  const subjects = [...new Set(lacking.map(([subject]) => subject))];
  const [first = "", ...rest] = new Intl.ListFormat("en").format(subjects);
  const needs = `${first.toUpperCase()}${rest.join("")} ${subjects.length === 1 ? "needs" : "need"}`;
  const line = `${needs} packages that are not installed. Install them: ${installLine(names)}`;
  throw new StartError(line, { cause });
}

/** `null` for an installed package, its version if that is an unsuitable one, the error for a missing package. */
async function stateOf(name: string): Promise<null | string | Error> {
  try {
    await LOADS[name]?.();
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

/** Loads a CommonJS package at once; `null` if it is not installed. */
export function requireIfInstalled<T>(name: string): T | null {
  try {
    return createRequire(import.meta.url)(name);
  } catch (error) {
    if (isMissing(name, error)) return null;
    throw error;
  }
}

/** Whether the error reports that this package, and not one of its own dependencies, is missing. */
function isMissing(name: string, error: unknown): error is Error {
  const isAbsent = ["ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND"].includes(systemCode(error) ?? "");
  return isAbsent && String(error).includes(`'${name}'`);
}

/** The line that installs packages where this command finds them. */
function installLine(names: readonly string[]): string {
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
