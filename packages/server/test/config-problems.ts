import { checkConfig } from "../src/config/check-config.ts";
import { ConfigError } from "../src/config/config-error.ts";

/** The problems that `checkConfig` reports for `config`; empty for a valid configuration. */
export function problemsOf(config: unknown): readonly string[] {
  try {
    checkConfig(config, "test");
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}
