import { readFile } from "node:fs/promises";
import { fileReasonOf } from "../cli/error-reason.ts";
import { checkConfig } from "./check-config.ts";
import { ConfigError } from "./config-error.ts";
import { readConfigFile } from "./config-file.ts";
import type { ServerConfig } from "./server-config.ts";
import { readStorageText } from "./storage-config.ts";

const SECRET_FILE = "OUTRIGGER_SECRET_FILE";

/** The options of `outrigger serve` as typed. */
export interface ServeFlags {
  port?: string;
  host?: string;
  data?: string;
  existing?: boolean;
  config?: string;
}

/** The options that locate the data of a server, as typed. */
export type DataFlags = Pick<ServeFlags, "config" | "data">;

/** Environment variables by the key that they set. The first non-empty variable of a key wins. */
export const ENVIRONMENT = {
  port: ["OUTRIGGER_PORT", "PORT"],
  host: ["OUTRIGGER_HOST"],
  data: ["OUTRIGGER_DATA"],
  storage: ["OUTRIGGER_STORAGE"],
  existing: ["OUTRIGGER_EXISTING"],
  publicUrl: ["OUTRIGGER_PUBLIC_URL"],
  secret: ["OUTRIGGER_SECRET"],
  "lookup.database": ["OUTRIGGER_LOOKUP_DATABASE"],
  "metrics.port": ["OUTRIGGER_METRICS_PORT"],
} as const satisfies Partial<
  Record<keyof ServerConfig | "lookup.database" | "metrics.port", readonly string[]>
>;

/**
 * Merges the sources: flags win over the environment, and the environment wins over the file. Each source is validated
 * separately, so that a message names the source of the problem.
 * @throws ConfigError
 */
export async function loadConfig(flags: ServeFlags, environment: NodeJS.ProcessEnv): Promise<ServerConfig> {
  const { config, ...given } = flags;
  const fromFlags = checkConfig(withPort(given), "The command line", (key) => `--${key}`);
  const fromEnvironment = { ...readEnvironment(environment), ...(await readSecretFile(environment)) };
  const fromFile = await readConfigFile(config);
  const { metrics = fromFile.metrics, lookup = fromFile.lookup } = fromEnvironment;
  return {
    ...fromFile,
    ...fromEnvironment,
    // The environment sets only the port; the host may come from the file.
    ...(metrics ? { metrics: { ...fromFile.metrics, ...metrics } } : {}),
    // The environment sets only the database; the other keys come from the file.
    ...(lookup === undefined ? {} : { lookup: lookup && { ...(fromFile.lookup || {}), ...lookup } }),
    ...fromFlags,
  };
}

/** An empty variable counts as absent. */
function readEnvironment(environment: NodeJS.ProcessEnv): ServerConfig {
  const values: Record<string, string> = {};
  const names: Record<string, string> = {};
  for (const [key, variables] of Object.entries(ENVIRONMENT)) {
    const variable = variables.find((name) => (environment[name] ?? "") !== "");
    const value = variable === undefined ? undefined : environment[variable];
    if (variable === undefined || value === undefined) continue;
    values[key] = value;
    names[key] = variable;
  }
  const { "metrics.port": port, "lookup.database": database, storage, ...others } = values;
  const sections = {
    ...(port === undefined ? {} : { metrics: withPort({ port }) }),
    ...(database === undefined ? {} : { lookup: { database } }),
    ...(storage === undefined
      ? {}
      : { storage: readStorageText(storage, "The environment", "OUTRIGGER_STORAGE") }),
  };
  return checkConfig({ ...withFlag(withPort(others)), ...sections }, "The environment", (key) => {
    return names[key] ?? key.replace(/^storage(?=\.)/, names.storage ?? "storage");
  });
}

function withPort(values: { port?: string }): Record<string, unknown> {
  const { port } = values;
  return port !== undefined && /^\d{1,5}$/.test(port) ? { ...values, port: Number(port) } : values;
}

/** Variables are text. The rules reject any text other than `true` and `false`. */
function withFlag(values: Record<string, unknown>): Record<string, unknown> {
  const { existing } = values;
  return existing === "true" || existing === "false" ? { ...values, existing: existing === "true" } : values;
}

/**
 * Reads the secrets from the file that the environment names, one per line. The first signs, all verify.
 * @returns An empty object if the environment names no file.
 * @throws ConfigError that quotes no part of the file.
 */
export async function readSecretFile(environment: NodeJS.ProcessEnv): Promise<Pick<ServerConfig, "secret">> {
  const path = environment[SECRET_FILE] ?? "";
  if (path === "") return {};
  if ((environment.OUTRIGGER_SECRET ?? "") !== "") {
    throw secretProblem("must not be set together with OUTRIGGER_SECRET: remove one of them");
  }
  const text = await readFile(path, "utf8").catch((cause) => {
    throw secretProblem(`cannot be read: ${fileReasonOf(cause)}`);
  });
  const secret = text.split(/\r?\n/).filter((line) => line !== "");
  if (secret.length === 0) throw secretProblem("is empty");
  return checkConfig({ secret }, "The environment", () => SECRET_FILE);
}

function secretProblem(what: string): ConfigError {
  return new ConfigError("The environment", [`${SECRET_FILE}: ${what}`]);
}
