/** A configuration that cannot be: every problem on its own line, each beginning with the key's path. */
export class ConfigError extends TypeError {
  /** `key.path: must be …`, at least one. */
  readonly problems: readonly string[];

  constructor(source: string, problems: readonly string[], options: { cause?: unknown } = {}) {
    super([`${source} is not valid`, ...problems].join("\n"), options);
    this.name = "ConfigError";
    this.problems = problems;
  }
}

/** A server that cannot start where it is, in one line that says what is in the way. */
export class StartError extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = "StartError";
  }
}
