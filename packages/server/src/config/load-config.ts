import { readFile } from "node:fs/promises";
import { fileReasonOf } from "../cli/error-reason.ts";
import { checkConfig } from "./check-config.ts";
import { ConfigError } from "./config-error.ts";
import { readConfigFile } from "./config-file.ts";
import type { ServerConfig } from "./config-rules.ts";
import { readStorageText } from "./storage-config.ts";

const SECRET_FILE = "OUTRIGGER_SECRET_FILE";

/** The options that locate the data of a server, as typed. */
export interface DataFlags {
  config?: string | undefined;
  data?: string | undefined;
}

/** The options of `outrigger serve` as typed. */
export interface ServeFlags extends DataFlags {
  port?: string;
  host?: string;
  existing?: boolean;
}

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
  const { config, port, host, data, existing } = flags;
  const typed = { port: portOf(port), host, data, existing };
  const fromFlags = checkConfig(typed, null, (key) => `--${key}`);
  const fromEnvironment = { ...readEnvironment(environment), ...(await readSecretFile(environment)) };
  const fromFile = await readConfigFile(config);
  const { metrics, lookup } = fromEnvironment;
  return {
    ...fromFile,
    ...fromEnvironment,
    // The environment sets only one key of each section; the other keys come from the file.
    ...(metrics ? { metrics: { ...fromFile.metrics, ...metrics } } : {}),
    ...(lookup ? { lookup: { ...(fromFile.lookup || {}), ...lookup } } : {}),
    ...fromFlags,
  };
}

/** An empty variable counts as absent. */
function readEnvironment(environment: NodeJS.ProcessEnv): ServerConfig {
  const names: Record<string, string> = {};
  const text = (key: keyof typeof ENVIRONMENT) => {
    const name = ENVIRONMENT[key].find((each) => (environment[each] ?? "") !== "");
    if (name !== undefined) names[key] = name;
    return name === undefined ? undefined : environment[name];
  };
  const storage = text("storage");
  const [database, metricsPort] = [text("lookup.database"), text("metrics.port")];
  const values = {
    port: portOf(text("port")),
    host: text("host"),
    data: text("data"),
    storage: storage && readStorageText(storage, "The environment", "OUTRIGGER_STORAGE"),
    existing: flagOf(text("existing")),
    publicUrl: text("publicUrl"),
    secret: text("secret"),
    lookup: database === undefined ? undefined : { database },
    metrics: metricsPort === undefined ? undefined : { port: portOf(metricsPort) },
  };
  return checkConfig(values, "The environment", (key) => {
    return names[key] ?? key.replace(/^storage(?=\.)/, names.storage ?? "storage");
  });
}

/** Flags and variables are text. The rules reject any text that is not a port. */
function portOf(text: string | undefined): number | string | undefined {
  return text !== undefined && /^\d{1,5}$/.test(text) ? Number(text) : text;
}

/** Likewise any text other than `true` and `false`. */
function flagOf(text: string | undefined): boolean | string | undefined {
  return text === "true" || text === "false" ? text === "true" : text;
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
