import { execFile, spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

/**
 * Programs that read the formats that Outrigger reads, and servers that store its data. Each is taken from its
 * environment variable, as in the tests, or is the first on the PATH with the expected version output.
 */
const PROGRAMS = {
  convert: {
    variable: "OUTRIGGER_CONVERT",
    names: ["convert-im6.q16", "convert-im6", "convert"],
    version: { flag: "-version", says: "ImageMagick" },
  },
  pdftoppm: {
    variable: "OUTRIGGER_PDFTOPPM",
    names: ["pdftoppm"],
    version: { flag: "-v", says: "pdftoppm" },
  },
  "rsvg-convert": {
    variable: "OUTRIGGER_RSVG_CONVERT",
    names: ["rsvg-convert"],
    version: { flag: "--version", says: "rsvg-convert" },
  },
  "redis-server": {
    variable: "OUTRIGGER_REDIS_SERVER",
    names: ["redis-server"],
    version: { flag: "--version", says: "Redis server" },
  },
  postgres: {
    variable: "OUTRIGGER_POSTGRES",
    names: ["postgres"],
    version: { flag: "--version", says: "postgres (PostgreSQL)" },
  },
  nginx: {
    variable: "OUTRIGGER_NGINX",
    names: ["nginx"],
    version: { flag: "-v", says: "nginx/" },
  },
  radosgw: {
    variable: "OUTRIGGER_RADOSGW",
    names: ["radosgw"],
    version: { flag: "--version", says: "ceph version" },
  },
};

/** @typedef {keyof typeof PROGRAMS} ProgramName */

/**
 * @param {ProgramName} name
 * @returns {string | null} Its path; `null` where it is not installed.
 */
export function findProgram(name) {
  const { variable, names, version } = PROGRAMS[name];
  const named = process.env[variable];
  if (named) return named;
  const directories = (process.env.PATH ?? "").split(delimiter).filter(Boolean);
  const paths = names.flatMap((each) => directories.map((directory) => join(directory, each)));
  return paths.find((path) => isExecutable(path) && doesSay(path, version)) ?? null;
}

/** @param {string} path */
function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // Missing, or not executable for us.
    return false;
  }
}

/**
 * @param {string} path
 * @param {{ flag: string, says: string }} version
 */
function doesSay(path, { flag, says }) {
  const { stdout, stderr } = spawnSync(path, [flag], { encoding: "utf8" });
  return `${stdout}${stderr}`.includes(says);
}

const execute = promisify(execFile);

/**
 * Runs a program to its end. Rejects when it fails.
 * @param {string} path
 * @param {readonly string[]} args
 */
export async function runProgram(path, args) {
  await execute(path, args);
}
