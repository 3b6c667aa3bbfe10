import { optionProblems } from "@outrigger/core/stores";
import { ConfigError } from "./config-error.ts";
import { CONFIG_RULES } from "./config-rules.ts";
import type { ServerConfig } from "./server-config.ts";

/**
 * Proves `value` to be a configuration. A key whose value is `undefined` counts as absent.
 * @param source What the value comes from, for the message.
 * @param nameOf How the key at a path is called there. @default its path
 * @throws ConfigError naming every key that is wrong. No value is repeated: it may be a secret.
 */
export function checkConfig(value: unknown, source: string, nameOf = (path: string) => path): ServerConfig {
  const problems = optionProblems(value, CONFIG_RULES);
  // Each of its keys has a rule, and fits it.
  if (problems.length === 0) return withoutUndefined(value) as ServerConfig;
  throw new ConfigError(
    source,
    problems.map(({ path, text }) => `${nameOf(path) || "the configuration"}: ${text}`),
  );
}

function withoutUndefined(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, each]) => each !== undefined)
      .map(([key, each]) => [key, withoutUndefined(each)]),
  );
}
