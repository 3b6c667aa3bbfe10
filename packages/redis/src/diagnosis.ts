import { connect } from "node:net";
import { ServiceError } from "@outrigger/core";
import { askOnce } from "./find-master.ts";
import { isReplyError } from "./redis-errors.ts";
import type { RedisAddress, RedisSettings } from "./redis-options.ts";

/** Why a server that never answered as Redis does is of no use, where that can be found out. */
export interface Diagnosis {
  /** A call was answered: from now on the address is right. */
  answered(): void;
  /** @returns what to throw in the place of `error`: a `ServiceError` that names the mistake in the URL, or `error` itself. */
  explain(error: unknown): Promise<unknown>;
  /** A call waits for its answer. @returns what ends that. */
  beginWait(): () => void;
  /** What is known by now. */
  found(): ServiceError | undefined;
}

/** A server that could not be examined is not examined again any sooner. */
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
      `The server at ${placeOf(address)} speaks ${spoken}: the URL must begin with ${scheme(right ?? "")}, not ${scheme(wrong ?? "")}.`,
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
      if (error instanceof Error && /^ERR unknown command/.test(error.message)) {
        return sentinel === null && !isCluster ? ((await asSentinel(settings)) ?? error) : error;
      }
      if (isReplyError(error)) return error;
      if (found === undefined) await begin();
      return found ?? error;
    },
    beginWait() {
      if (hasAnswered) return () => undefined;
      // Two kinds of server that wait for each other never fail: the deadline of the call is to find the reason known.
      const timer = setTimeout(begin, timeoutMs / 2).unref();
      return () => clearTimeout(timer);
    },
    found: () => found,
  };
}

/** That the address is that of a Sentinel, with the URL to use instead; `undefined` where it is none. */
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
      `The server at ${placeOf(address)} is a Redis Sentinel: the URL must be ${scheme}://${placeOf(address)}/${name}, with all Sentinels separated by commas.`,
    );
  } catch {
    return undefined;
  }
}

function placeOf({ host, port }: RedisAddress): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/** What a server speaks, by what it answers to a PING without TLS; `null` where it does not tell. */
function transportOf({ host, port }: RedisAddress, timeoutMs: number): Promise<"tls" | "plain" | null> {
  return new Promise((resolve) => {
    const socket = connect({ host, port }, () => socket.write("PING\r\n"));
    const end = (transport: "tls" | "plain" | null) => {
      socket.destroy();
      resolve(transport);
    };
    socket.setTimeout(timeoutMs, () => end(null));
    socket.once("error", () => end(null));
    socket.once("close", () => end(null));
    // A TLS record of type alert, or the type of a reply.
    socket.once("data", ([first]) =>
      end(first === 0x15 ? "tls" : first === 0x2b || first === 0x2d ? "plain" : null),
    );
  });
}
