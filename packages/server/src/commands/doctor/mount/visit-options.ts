import { validateHeaderName, validateHeaderValue } from "node:http";
import { ConfigError } from "../../../config/config-error.ts";
import type { VisitOptions } from "./visit.ts";

const PATIENCE_SECONDS = 7;
const MAX_PATIENCE_SECONDS = 600;
const HEADER = /^([^:\s]+):\s*(.*)$/s;

/** What of the options of `outrigger doctor` concerns a mount, as it was typed. */
export interface MountFlags {
  /** `Name: value` each. @default none */
  header?: readonly string[];
  /** Seconds that an upload pauses. @default 7 */
  patience?: string;
}

/** @throws ConfigError which names each option that cannot be, and repeats no header: it may be a secret. */
export function visitOptionsOf(url: string, { header = [], patience }: MountFlags): VisitOptions {
  const problems: string[] = [];
  const headers: Record<string, string> = {};
  for (const text of header) {
    const [, name = "", value = ""] = HEADER.exec(text) ?? [];
    if (isHeader(name, value)) headers[name] = value;
    else problems.push('--header: must be a header such as "Authorization: Bearer …"');
  }
  const seconds = patience === undefined ? PATIENCE_SECONDS : Number(patience);
  if (!(seconds >= 0 && seconds <= MAX_PATIENCE_SECONDS) || patience?.trim() === "") {
    problems.push(`--patience: must be seconds, 0 to ${MAX_PATIENCE_SECONDS}`);
  }
  if (problems.length > 0) throw new ConfigError("The command line", problems);
  return { base: parseMountUrl(url), headers, patienceMs: seconds * 1000 };
}

function isHeader(name: string, value: string): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    // The message for a wrong header is the caller's.
    return false;
  }
}

/** The address of a mount as it was typed, without a slash at the end. @throws ConfigError where it is none. */
export function parseMountUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isPlain =
    url !== null && url.username === "" && url.password === "" && url.search === "" && url.hash === "";
  if (!isPlain || !/^https?:$/.test(url.protocol)) {
    throw new ConfigError("The command line", [
      "URL: must be an absolute http(s) URL without user, query and fragment, such as https://example.com/img",
    ]);
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}
