import { isError, isServiceError, ServiceError } from "@outrigger/core";

/** What Redis answers when it will not do something, and what that means to whoever runs it. */
const REPLIES: readonly (readonly [RegExp, string])[] = [
  [/\bREADONLY\b/, "The Redis server is a read-only replica; the address must be that of its primary."],
  // The latter where a command is too long to be read from a client that has not logged in.
  [
    /\bNOAUTH\b|\bunauthenticated (?:multibulk|bulk)\b/,
    "The Redis server asks for a password, and the address has none.",
  ],
  [/\bWRONGPASS\b|\binvalid password\b/i, "The Redis server refuses the user name or the password."],
  [/\bAUTH\b.*without any password/i, "The Redis server has no password, but the address has one."],
  [/\bNOPERM\b/, "The Redis user lacks a permission; it needs the commands that the README lists."],
  [/\bLOADING\b/, "The Redis server is loading its data."],
  [/\bCLUSTERDOWN\b/, "The Redis cluster is down: some of its slots have no server."],
  [/\bNOREPLICAS\b/, "The Redis server has fewer replicas than it is told to write to."],
  [/\bMASTERDOWN\b/, "The Redis server has lost its primary."],
  [/\bMISCONF\b/, "The Redis server cannot save its data to disk and accepts no writes."],
  [/\bBUSY\b/, "The Redis server is busy with a script."],
  [/cluster support disabled/, "The Redis server is no cluster; its address must be given as a string."],
  [/\b(?:MOVED|CROSSSLOT)\b/, "The Redis server is a cluster; its addresses must be given as an array."],
];

/** What Sentinels answer, and what that means to the operator; the first that one of them answered. */
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

/** What ioredis makes of Sentinels that do not name a master. */
const NO_SENTINEL = /\ball sentinels are unreachable\b/i;

/** What a call ends with that nothing was heard of in time. */
export class RedisTimeoutError extends Error {
  constructor(timeoutMs: number) {
    super(`No answer from Redis within ${timeoutMs} ms.`);
    this.name = "RedisTimeoutError";
  }
}

/** Whether Redis itself refused something, as opposed to a connection that failed. */
export function isReplyError(error: unknown): boolean {
  return isError(error) && /^[A-Z][A-Z]+ /.test(error.message);
}

/** What Sentinels refused by one of these texts, in the order of what matters, and which text says so. */
export function sentinelRefusalOf(texts: readonly string[]): { message: string; index: number } | undefined {
  for (const [pattern, message] of SENTINEL_REPLIES) {
    const index = texts.findIndex((text) => pattern.test(text));
    if (index !== -1) return { message, index };
  }
  return undefined;
}

/** Whether a server that was the master refused a write since it is one no more. */
export function isDemoted(error: unknown): boolean {
  return isError(error) && /^(?:READONLY|MASTERDOWN) /.test(error.message);
}

/** A driver's error as the contract wants it. One that already is goes through. */
export function toServiceError(error: unknown): ServiceError {
  if (isServiceError(error)) return error;
  const message = isError(error) ? error.message : String(error);
  if (/\bOOM command not allowed\b/.test(message)) {
    return new ServiceError("no_space", "The Redis server has no memory left (maxmemory).", { cause: error });
  }
  const known = NO_SENTINEL.test(message)
    ? undefined // It quotes a reply of a Sentinel, not of a server.
    : REPLIES.find(([pattern]) => pattern.test(message))?.[1];
  return new ServiceError("store_unavailable", known ?? describe(error), { cause: error });
}

function describe(error: unknown): string {
  if (error instanceof RedisTimeoutError) return "The Redis server does not answer.";
  if (isError(error) && NO_SENTINEL.test(error.message)) {
    return sentinelRefusalOf([error.message])?.message ?? "None of the Redis Sentinels can be reached.";
  }
  if (isReplyError(error)) return "The Redis server refused a command.";
  return "The Redis server cannot be reached.";
}
