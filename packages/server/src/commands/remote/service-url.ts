import { ConfigError } from "../../config/config-error.ts";

const VARIABLE = "OUTRIGGER_URL";
const DEFAULT_URL = "http://127.0.0.1:3000";

/** Help text of `--to`. */
export const TO_HELP = `address at which the service is mounted (default: ${VARIABLE} or ${DEFAULT_URL})`;

/**
 * The address of the mounted service, without a trailing slash: as typed, otherwise from the environment, otherwise the
 * default of `outrigger serve`.
 * @throws ConfigError that quotes no part of an address, which may hold a password.
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
