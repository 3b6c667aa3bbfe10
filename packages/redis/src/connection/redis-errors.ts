import { isServiceError, ServiceError } from "@outrigger/core";
import { isError } from "@outrigger/core/values";

/** Error replies of Redis, each with its meaning for the operator. */
const REPLIES: readonly (readonly [RegExp, string])[] = [
  [/\bREADONLY\b/, "The Redis server is a read-only replica; the address must be that of its primary."],
  // The second pattern: a command that is too long to be read from a client that has not logged in.
  [
    /\bNOAUTH\b|\bunauthenticated (?:multibulk|bulk)\b/,
    "The Redis server asks for a password, and the address has none.",
  ],
  [/\bWRONGPASS\b|\binvalid password\b/i, "The Redis server refuses the user name or the password."],
  [/\bAUTH\b.*without any password/i, "The Redis server has no password, but the address has one."],
  [/\bNOPERM\b/, "The Redis user lacks a permission; it needs the commands that the README lists."],
  [/\bLOADING\b/, "The Redis server is loading its data."],
  [/\bCLUSTERDOWN\b/, "The Redis cluster is down: some of its slots have no server."],
  [/\bNOREPLICAS\b/, "The Redis server has fewer replicas than its min-replicas-to-write."],
  [/\bMASTERDOWN\b/, "The Redis server has lost its primary."],
  [/\bMISCONF\b/, "The Redis server cannot save its data to disk and accepts no writes."],
  [/\bBUSY\b/, "The Redis server is busy with a script."],
  [/cluster support disabled/, "The Redis server is not a cluster; its address must be given as a string."],
  [/\b(?:MOVED|CROSSSLOT)\b/, "The Redis server is a cluster; its addresses must be given as an array."],
];

/** Error replies of Sentinels, each with its meaning for the operator. Earlier entries take precedence. */
const SENTINEL_REPLIES: readonly (readonly [RegExp, string])[] = [
  [/No such master/i, "The Redis Sentinels watch no master of the name in the URL's path."],
  [
    /\bNOAUTH\b|unauthenticated/,
    "The Redis Sentinels ask for a password, and the URL has no sentinelPassword.",
  ],
  [/\bWRONGPASS\b|invalid password/i, "The Redis Sentinels refuse the sentinelUser or the sentinelPassword."],
  [
    /AUTH.*without any password/i,
    "The Redis Sentinels have no password, but the URL has a sentinelPassword.",
  ],
  [/\bNOPERM\b/, "The sentinelUser lacks a permission; it needs the commands that the README lists."],
  [
    /unknown command|unknown subcommand/i,
    "The address of the Sentinels is that of an ordinary Redis server: use redis://…, or the port of the Sentinels.",
  ],
];

/** The error of a call without a reply before its deadline. */
export class RedisTimeoutError extends Error {
  constructor(timeoutMs: number) {
    super(`No answer from Redis within ${timeoutMs} ms.`);
    this.name = "RedisTimeoutError";
  }
}

/** Whether the error is a reply of Redis, as opposed to a failed connection. */
export function isReplyError(error: unknown): boolean {
  return isError(error) && /^[A-Z][A-Z]+ /.test(error.message);
}

/** The most important refusal of Sentinels among these texts, and the index of the text that contains it. */
export function sentinelRefusalOf(texts: readonly string[]): { message: string; index: number } | undefined {
  for (const [pattern, message] of SENTINEL_REPLIES) {
    const index = texts.findIndex((text) => pattern.test(text));
    if (index !== -1) return { message, index };
  }
  return undefined;
}

/** Whether a server rejected a write because it is no longer the master. */
export function isDemoted(error: unknown): boolean {
  return isError(error) && /^(?:READONLY|MASTERDOWN) /.test(error.message);
}

/** Converts a driver's error to a `ServiceError`. Returns a `ServiceError` unchanged. */
export function toServiceError(error: unknown): ServiceError {
  if (isServiceError(error)) return error;
  const message = isError(error) ? error.message : String(error);
  if (/\bOOM command not allowed\b/.test(message)) {
    return new ServiceError("no_space", "The Redis server has no memory left (maxmemory).", { cause: error });
  }
  const known = REPLIES.find(([pattern]) => pattern.test(message))?.[1];
  return new ServiceError("store_unavailable", known ?? messageFor(error), { cause: error });
}

function messageFor(error: unknown): string {
  if (error instanceof RedisTimeoutError) return "The Redis server does not answer.";
  if (isReplyError(error)) return "The Redis server refused a command.";
  return "The Redis server cannot be reached.";
}
