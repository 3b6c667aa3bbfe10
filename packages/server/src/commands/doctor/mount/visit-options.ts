import { validateHeaderName, validateHeaderValue } from "node:http";
import { ConfigError } from "../../../config/config-error.ts";
import type { VisitOptions } from "./visit.ts";

const PATIENCE_SECONDS = 7;
const MAX_PATIENCE_SECONDS = 600;
const HEADER = /^([^:\s]+):\s*(.*)$/s;

/** The options of `outrigger doctor` for a mount, as typed. */
export interface MountFlags {
  /** Headers as `Name: value`. @default none */
  header?: readonly string[];
  /** Seconds that an upload pauses. @default 7 */
  patience?: string;
}

/** @throws ConfigError that names each invalid option. It quotes no header, which may be a secret. */
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
    problems.push(`--patience: must be a number of seconds from 0 to ${MAX_PATIENCE_SECONDS}`);
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
    // The caller reports the invalid header.
    return false;
  }
}

/** Parses the address of a mount and removes trailing slashes. @throws ConfigError for an invalid address. */
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
