import { optionProblems } from "@outrigger/core/stores";
import { ConfigError } from "./config-error.ts";
import type { ServerConfig } from "./config-rules.ts";
import { CONFIG_RULES } from "./config-rules.ts";

/**
 * Validates `value` as a configuration. A key whose value is `undefined` counts as absent.
 * @param source Where the value comes from; the message names it.
 * @param nameOf Maps the path of a key to its name in that source. @default the path itself
 * @throws ConfigError that names every invalid key. It quotes no value: a value may be a secret.
 */
export function checkConfig(
  value: unknown,
  source: string | null,
  nameOf = (path: string) => path,
): ServerConfig {
  const problems = optionProblems(value, CONFIG_RULES);
  // Every key has a rule and satisfies it.
  if (problems.length === 0) return withoutUndefined(value) as ServerConfig;
  throw new ConfigError(
    source,
    problems.map(({ path, text }) => `${nameOf(path) || "the configuration"}: ${text}`),
  );
}

function withoutUndefined(value: unknown): unknown {
  // Not a list, nor the bytes of a watermark.
  if (Object.prototype.toString.call(value) !== "[object Object]") return value;
  return Object.fromEntries(
    Object.entries(value as object) // Proved by its tag.
      .filter(([, each]) => each !== undefined)
      .map(([key, each]) => [key, withoutUndefined(each)]),
  );
}
