import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { ServiceError } from "@outrigger/core";
import { isError } from "@outrigger/core/values";
import { askOnce } from "./find-master.ts";
import { isReplyError } from "./redis-errors.ts";
import type { RedisAddress, RedisSettings } from "./redis-options.ts";

/** Finds out why a server never gave a valid Redis reply, where possible. */
export interface Diagnosis {
  /** Reports a successful call: the address is correct. */
  answered(): void;
  /**
   * @returns the error to throw instead of `error`: a `ServiceError` that names the mistake in the URL, or
   * `error` itself.
   */
  explain(error: unknown): Promise<unknown>;
  /** Reports that a call waits for its reply. @returns a function that ends the wait. */
  beginWait(): () => void;
  /** The diagnosis so far. */
  found(): ServiceError | undefined;
}

/** Minimum pause between two examinations of a server. */
const PAUSE_MS = 1000;

export function createDiagnosis(settings: RedisSettings): Diagnosis {
  const { addresses, timeoutMs, sentinel, isCluster } = settings;
  const [address] = addresses;
  let hasAnswered = false;
  let found: ServiceError | undefined;
  let examination: Promise<void> | undefined;
  let examinedAt = Number.NEGATIVE_INFINITY;

  async function examine(): Promise<void> {
    const transport = await transportOf(address, timeoutMs / 4);
    examinedAt = performance.now();
    if (transport === null || (transport === "tls") === address.isSecure) return;
    const [spoken, right, wrong] = address.isSecure
      ? ["no TLS", "redis", "rediss"]
      : ["TLS", "rediss", "redis"];
    const scheme = (name: string) => (sentinel === null ? `${name}://` : `${name}+sentinel://`);
    found = new ServiceError(
      "store_unavailable",
      `The server at ${hostAndPort(address)} speaks ${spoken}: the URL must begin with ${scheme(right ?? "")}, not ${scheme(wrong ?? "")}.`,
    );
  }

  function begin(): Promise<void> {
    if (examination === undefined && performance.now() - examinedAt >= PAUSE_MS) {
      examination = examine().finally(() => {
        examination = undefined;
      });
    }
    return examination ?? Promise.resolve();
  }

  return {
    answered() {
      hasAnswered = true;
      found = undefined;
    },
    async explain(error) {
      if (hasAnswered) return error;
      if (isError(error) && /^ERR unknown command/.test(error.message)) {
        return sentinel === null && !isCluster ? ((await asSentinel(settings)) ?? error) : error;
      }
      if (isReplyError(error)) return error;
      if (found === undefined) await begin();
      return found ?? error;
    },
    beginWait() {
      if (hasAnswered) return () => undefined;
      // A TLS peer and a plain peer may wait for each other for ever. The reason must be known at the
      // deadline of the call.
      const timer = setTimeout(begin, timeoutMs / 2).unref();
      return () => clearTimeout(timer);
    },
    found: () => found,
  };
}

/**
 * The error for a Sentinel's address, with the URL to use instead; `undefined` if the server is not a
 * Sentinel.
 */
async function asSentinel(settings: RedisSettings): Promise<ServiceError | undefined> {
  const [address] = settings.addresses;
  try {
    const short = { ...settings, timeoutMs: settings.timeoutMs / 2 };
    const reply = await askOnce(short, { ...address, database: 0 }, ["ROLE"]);
    const [role, names] = Array.isArray(reply) ? reply : [];
    if (String(role) !== "sentinel") return undefined;
    const [name = "name"] = Array.isArray(names) ? names.map(String) : [];
    const scheme = address.isSecure ? "rediss+sentinel" : "redis+sentinel";
    return new ServiceError(
      "store_unavailable",
      `The server at ${hostAndPort(address)} is a Redis Sentinel: the URL must be ${scheme}://${hostAndPort(address)}/${name}, with all Sentinels separated by commas.`,
    );
  } catch {
    return undefined;
  }
}

function hostAndPort({ host, port }: RedisAddress): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/** The transport of a server; `null` if it cannot be determined. The probes send no credentials. */
async function transportOf(address: RedisAddress, timeoutMs: number): Promise<"tls" | "plain" | null> {
  if (await answersPing(address, timeoutMs)) return "plain";
  return (await shakesHands(address, timeoutMs)) ? "tls" : null;
}

/** Whether the server answers PING without TLS. An error reply, such as a missing password, counts. */
function answersPing({ host, port }: RedisAddress, timeoutMs: number): Promise<boolean> {
  const socket = connect({ host, port }, () => socket.write("PING\r\n"));
  return firstOf(socket, "data", timeoutMs, ([first]) => first === 0x2b || first === 0x2d);
}

/** Whether the server completes a TLS handshake, with any certificate. */
function shakesHands({ host, port }: RedisAddress, timeoutMs: number): Promise<boolean> {
  const socket = connectTls({ host, port, rejectUnauthorized: false });
  return firstOf(socket, "secureConnect", timeoutMs, () => true);
}

/** The result of `isSo` for the event; `false` if the socket closes first or times out. */
function firstOf(
  socket: Socket,
  event: string,
  timeoutMs: number,
  isSo: (data: Buffer) => boolean,
): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (result: boolean) => {
      socket.destroy();
      resolve(result);
    };
    socket.setTimeout(timeoutMs, () => end(false));
    socket.once("error", () => end(false));
    socket.once("close", () => end(false));
    socket.once(event, (data: Buffer) => end(isSo(data)));
  });
}
