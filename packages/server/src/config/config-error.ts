/** An invalid configuration: every problem on its own line, beginning with the path of the key. */
export class ConfigError extends TypeError {
  /** `key.path: must be …`, at least one. */
  readonly problems: readonly string[];

  constructor(source: string | null, problems: readonly string[], options: { cause?: unknown } = {}) {
    super([...(source === null ? [] : [`${source} is not valid`]), ...problems].join("\n"), options);
    this.name = "ConfigError";
    this.problems = problems;
  }
}

/** A server or command that cannot start in its environment; the message is one line with the reason. */
export class StartError extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = "StartError";
  }
}

/** The error for invalid options or arguments of a command. @param problems `--option: must be …`, at least one. */
export function usageError(...problems: readonly string[]): ConfigError {
  return new ConfigError(null, problems);
}
