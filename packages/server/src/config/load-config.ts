import { readFile } from "node:fs/promises";
import { reasonOf } from "../cli/error-reason.ts";
import { checkConfig } from "./check-config.ts";
import { ConfigError } from "./config-error.ts";
import { readConfigFile } from "./config-file.ts";
import type { ServerConfig } from "./server-config.ts";
import { readStorageText } from "./storage-config.ts";

const SECRET_FILE = "OUTRIGGER_SECRET_FILE";

/** The options of `outrigger serve`, as they were typed. */
export interface ServeFlags {
  port?: string;
  host?: string;
  data?: string;
  existing?: boolean;
  config?: string;
}

/** Environment variables that are read, by the key that they set; of two the first wins. */
export const ENVIRONMENT = {
  port: ["OUTRIGGER_PORT", "PORT"],
  host: ["OUTRIGGER_HOST"],
  data: ["OUTRIGGER_DATA"],
  storage: ["OUTRIGGER_STORAGE"],
  existing: ["OUTRIGGER_EXISTING"],
  jobQueue: ["OUTRIGGER_JOB_QUEUE"],
  publicUrl: ["OUTRIGGER_PUBLIC_URL"],
  secret: ["OUTRIGGER_SECRET"],
  "lookup.database": ["OUTRIGGER_LOOKUP_DATABASE"],
  "metrics.port": ["OUTRIGGER_METRICS_PORT"],
} as const satisfies Partial<
  Record<keyof ServerConfig | "lookup.database" | "metrics.port", readonly string[]>
>;

/**
 * Flags over environment over file. Every source is validated by itself, so that a message names the source of the problem.
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
    // The environment has no more than a port; the host may be the file's.
    ...(metrics ? { metrics: { ...fromFile.metrics, ...metrics } } : {}),
    // The environment has no more than a database, either.
    ...(lookup === undefined ? {} : { lookup: lookup && { ...(fromFile.lookup || {}), ...lookup } }),
    ...fromFlags,
  };
}

/** An empty variable is an absent one. */
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

/** A variable is a text; the rules refuse one that is neither `true` nor `false`. */
function withFlag(values: Record<string, unknown>): Record<string, unknown> {
  const { existing } = values;
  return existing === "true" || existing === "false" ? { ...values, existing: existing === "true" } : values;
}

/**
 * The secret from the file that the environment names: one in each line, of which the first signs and all verify.
 * @returns Nothing where none is named.
 * @throws ConfigError, which repeats nothing of the file.
 */
export async function readSecretFile(environment: NodeJS.ProcessEnv): Promise<Pick<ServerConfig, "secret">> {
  const path = environment[SECRET_FILE] ?? "";
  if (path === "") return {};
  if ((environment.OUTRIGGER_SECRET ?? "") !== "") {
    throw secretProblem("must not be given beside OUTRIGGER_SECRET: drop one of them");
  }
  const text = await readFile(path, "utf8").catch((cause) => {
    throw secretProblem(`cannot be read: ${reasonOf(cause)}`);
  });
  const secret = text.split(/\r?\n/).filter((line) => line !== "");
  if (secret.length === 0) throw secretProblem("is empty");
  return checkConfig({ secret }, "The environment", () => SECRET_FILE);
}

function secretProblem(what: string): ConfigError {
  return new ConfigError("The environment", [`${SECRET_FILE}: ${what}`]);
}
