import { spawnSync } from "node:child_process";

/**
 * A program that reads the formats that Outrigger reads, or a server that stores its data: named by the environment variable of the
 * tests (`OUTRIGGER_REDIS_SERVER`), else looked for on the PATH.
 * @param {"convert" | "pdftoppm" | "rsvg-convert" | "redis-server" | "postgres"} name
 * @returns {string | null} `null` where it is not installed.
 */
export function findProgram(name) {
  const variable = variableOf(name);
  const program = process.env[variable] || name;
  if (spawnSync(program, ["--version"]).error !== undefined) return null;
  // The tests' helpers start the program that the variable names.
  process.env[variable] = program;
  return program;
}

/** @param {string} name */
function variableOf(name) {
  return `OUTRIGGER_${name.replaceAll("-", "_").toUpperCase()}`;
}
