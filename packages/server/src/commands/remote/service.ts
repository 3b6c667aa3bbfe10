import {
  createImagesClient,
  createLookupClient,
  type ImagesClient,
  type LookupClient,
  OutriggerError,
} from "@outrigger/client";
import { isError, parsedUrl, systemCode } from "@outrigger/core/values";
import { timeText } from "../../cli/amounts.ts";
import { reasonOf } from "../../cli/error-reason.ts";
import { readOwnPackage } from "../../cli/own-package.ts";
import { printable, printFailure } from "../../cli/print.ts";
import { StartError, usageError } from "../../config/config-error.ts";
import { DEFAULT_URL, URL_VARIABLE } from "./options.ts";

/** Low, so that an unreachable service is reported within two seconds. */
const MAX_RETRIES = 2;
/** A verification waits that long before a busy mail server, besides its share of other lines. */
const MAX_LINE_MS = 15 * 60_000;
/** A field of the API at the start of a sentence, which an option of the command sets. */
const FIELD =
  /^(?:name|description|focus|expiresAt|full_name|job_titles|required_field|verification_status)(?= must )/;
const OPTIONS: Readonly<Record<string, string>> = {
  expiresAt: "expires",
  full_name: "name",
  job_titles: "titles",
  required_field: "required",
  verification_status: "status",
};
/** Codes of connections that fail because no service listens. */
const UNREACHABLE = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"];

/** The address of the mounted service: as typed, otherwise from the environment, otherwise the default of `outrigger serve`. */
export function serviceUrlOf(to: string | undefined, environment: NodeJS.ProcessEnv = process.env): string {
  if (to !== undefined) return mountUrlOf(to, "--to");
  return mountUrlOf(environment[URL_VARIABLE] || DEFAULT_URL, URL_VARIABLE);
}

/** An address without a trailing slash. @param name What sets it. @throws ConfigError that quotes no part, which may be a password. */
export function mountUrlOf(text: string, name: string): string {
  const { protocol, origin, pathname, username, password, search, hash } =
    parsedUrl(text) ?? new URL("data:");
  if (!/^https?:$/.test(protocol) || username + password + search + hash !== "")
    throw usageError(`${name}: must be an absolute http(s) URL without user, password, query and fragment`);
  return origin + pathname.replace(/\/+$/, "");
}

/** A client of the images that are mounted at `baseUrl`; the viewer shows the name of this command. */
export function imagesClientAt(baseUrl: string): ImagesClient {
  return createImagesClient({ baseUrl, userAgent: userAgent(), maxRetries: MAX_RETRIES });
}

/** A client of the lookup that is mounted at `baseUrl`. */
export function lookupClientAt(baseUrl: string, apiKey: string): LookupClient {
  const limits = { maxRetries: MAX_RETRIES, maxRetryAfterMs: MAX_LINE_MS };
  return createLookupClient({ baseUrl, apiKey, userAgent: userAgent(), ...limits });
}

function userAgent(): string {
  return `outrigger/${readOwnPackage().version}`;
}

/** A request to a service. */
export interface Task<Result = void> {
  /** Printed before its failure. Safe to print. */
  name: string;
  /** Address of the service. */
  baseUrl: string;
  run(): Promise<Result>;
  /** Called after its end, in the order of the tasks. @default nothing */
  ended?(): void;
}

/** Runs one request. @throws StartError with the reason of its failure. */
export async function doOne<Result>({ name, baseUrl, run }: Task<Result>): Promise<Result> {
  try {
    return await run();
  } catch (cause) {
    if (!(cause instanceof OutriggerError)) throw cause;
    throw new StartError(`${name}: ${failureText(cause, baseUrl)}`, { cause });
  }
}

/**
 * Runs tasks, `concurrency` at a time. Prints failures on standard error in the order of the tasks, and sets the exit code to 1.
 * Starts no further task where it would fail in the same way.
 */
export async function doEach(tasks: readonly Task[], signal: AbortSignal, concurrency = 1): Promise<void> {
  const ends: Promise<unknown>[] = [];
  let isStopped = false;
  const startNext = () => {
    const task = tasks[ends.length];
    if (task !== undefined && !isStopped && !signal.aborted) ends.push(attempt(task));
  };
  const attempt = async (task: Task) => {
    try {
      await doOne(task);
      return null;
    } catch (error) {
      isStopped ||= signal.aborted || !(error instanceof StartError) || isHopeless(error);
      return error;
    } finally {
      startNext();
    }
  };
  for (let at = 0; at < concurrency; at++) startNext();
  const thrown: unknown[] = [];
  let hopeless = 0;
  for (let at = 0; at < ends.length; at++) {
    const error = await ends[at];
    tasks[at]?.ended?.();
    if (error === null) continue;
    if (signal.aborted || !(error instanceof StartError)) thrown.push(error);
    else if (!isHopeless(error) || ++hopeless === 1) printFailure(error.message);
  }
  if (thrown.length > 0) throw thrown[0];
  signal.throwIfAborted();
  const left = tasks.length - ends.length + Math.max(0, hopeless - 1);
  if (left > 0) printFailure(`${left} more ${left === 1 ? "was" : "were"} not tried`);
}

/** Without a service or with a wrong key, the other requests would fail in the same way. */
function isHopeless({ cause }: StartError): boolean {
  if (!(cause instanceof OutriggerError)) return false;
  return cause.status === 401 || (cause.status === 0 && hasCode(cause, UNREACHABLE));
}

/** Why a request to the service at `baseUrl` failed, as a sentence without a full stop. */
export function failureText(error: OutriggerError, baseUrl: string): string {
  const { status, title, detail, retryAfterMs } = error;
  if (status === 0 && hasCode(error, UNREACHABLE))
    return `No service responds at ${baseUrl}; start one with outrigger serve, or set another with --to or ${URL_VARIABLE}`;
  const isPlain = hasCode(error, ["ERR_SSL_WRONG_VERSION_NUMBER"]);
  const reason = isPlain ? "the service does not speak TLS; try http://" : printable(reasonOf(error));
  if (status === 0) return `The connection to ${baseUrl} failed: ${reason}`;
  // Of the successful replies that the client rejects, only a 202 comes from the service.
  if (status !== 202 && status < 300)
    return `The service at ${baseUrl} is not Outrigger, or Outrigger is mounted at another path`;
  if (status >= 300 && status < 400)
    return `${baseUrl} redirects to another address; use that address, e.g. with https://`;
  // The detail is untrusted text.
  const sentence = detail
    .trim()
    .replace(/\.$/, "")
    .replace(FIELD, (field) => `--${OPTIONS[field] ?? field}`);
  const said = printable(sentence) || `${status} ${printable(title)}`;
  if (status === 404) return `${said} (${baseUrl})`;
  return retryAfterMs === null ? said : `${said} (retry in ${timeText(retryAfterMs / 1000)})`;
}

/** Whether any cause has one of these codes. */
function hasCode(error: unknown, codes: readonly string[]): boolean {
  if (!isError(error)) return false;
  return codes.includes(systemCode(error) ?? "") || hasCode(error.cause, codes);
}
