import { ConfigError } from "../../config/config-error.ts";

const VARIABLE = "OUTRIGGER_URL";
const DEFAULT_URL = "http://127.0.0.1:3000";

/** What `--help` says of `--to`. */
export const TO_HELP = `address at which the service is mounted (default: ${VARIABLE}, else ${DEFAULT_URL})`;

/**
 * Where the service is mounted, without a slash at the end: what was typed, else what the environment says, else where
 * `outrigger serve` listens by default.
 * @throws ConfigError, which repeats nothing of an address: it may hold a password.
 */
export function serviceUrlOf(to: string | undefined, environment: NodeJS.ProcessEnv = process.env): string {
  if (to !== undefined) return checked(to, "The command line", "--to");
  const text = environment[VARIABLE] ?? "";
  return text === "" ? DEFAULT_URL : checked(text, "The environment", VARIABLE);
}

function checked(text: string, source: string, key: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new ConfigError(source, [
      `${key}: must be an absolute http(s) URL such as https://example.com/img`,
    ]);
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw new ConfigError(source, [`${key}: must have no user, password, query or fragment`]);
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}
