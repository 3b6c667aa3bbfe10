import { Socket } from "node:net";
import type { Observer } from "@outrigger/core";
import pg from "pg";
import { toServiceError } from "./sql-errors.ts";

const BIGINT_OID = 20;

interface PoolSettings {
  url: string;
  maxConnections: number;
  /** Time limit of connecting, and of a statement by the server. */
  timeoutMs: number;
  createSocket: () => Socket;
}

/** What is known of the server behind a connection. */
interface Session {
  /** Whether no pooler stands between. */
  isDirect: boolean;
  /** The server's clock in Unix milliseconds, less this process's monotonic clock. */
  aheadMs: number;
  /** When that was asked, by the monotonic clock. */
  askedMs: number;
  /** Number of {@link createPool}'s renewals before it was opened. */
  renewals: number;
}

/** The server's clock is asked again after this time, as it may be set. */
const CLOCK_MS = 60_000;

/**
 * Tells a pooler from a server: PgBouncer announces a process ID of its own. The settings of a session are not sent when
 * connecting, because PgBouncer refuses them, and are not changed behind a pooler, where the session serves other clients.
 */
const INTRODUCE = `
  SELECT direct AS "isDirect", extract(epoch FROM clock_timestamp()) * 1000 AS "nowMs",
    CASE WHEN direct THEN set_config('statement_timeout', $2, false) END AS statement,
    CASE WHEN direct THEN set_config('idle_in_transaction_session_timeout', $3, false) END AS idle,
    CASE WHEN direct THEN set_config('default_transaction_isolation', 'read committed', false) END AS isolation
  FROM (SELECT pg_backend_pid() = $1::int AS direct) AS session`;

/** A pool that connects on demand, and what is known of its connections. */
export function createPool({ url, maxConnections, timeoutMs, createSocket }: PoolSettings) {
  const sessions = new WeakMap<pg.ClientBase, Session>();
  let renewals = 0;
  let observer: Observer | null = null;

  async function introduce(client: pg.ClientBase): Promise<void> {
    const { processID = 0 } = client as { processID?: number }; // The types lack it.
    const idleMs = Math.max(60_000, timeoutMs);
    const { rows } = await client.query<{ isDirect: boolean; nowMs: string }>({
      text: INTRODUCE,
      values: [processID, String(timeoutMs), String(idleMs)],
      query_timeout: timeoutMs,
    } as pg.QueryConfig); // The types lack `query_timeout`.
    const [row] = rows;
    if (row === undefined) throw new Error("Unreachable: the statement returns one row");
    // The reply took some time, so deadlines are early, never late.
    const askedMs = performance.now();
    sessions.set(client, { isDirect: row.isDirect, aheadMs: Number(row.nowMs) - askedMs, askedMs, renewals });
  }

  const pool = new pg.Pool({
    connectionString: url,
    max: maxConnections,
    connectionTimeoutMillis: timeoutMs,
    keepAlive: true,
    application_name: "outrigger",
    stream: createSocket,
    types: { getTypeParser },
    onConnect: introduce,
  } as pg.PoolConfig); // The types lack a function for `stream`.
  // A connection lost while idle is replaced on demand. If it is lost during a call, the call rejects.
  pool.on("error", () => undefined);
  pool.on("connect", (client) => client.on("error", () => undefined));

  function sessionOf(client: pg.ClientBase): Session {
    const session = sessions.get(client);
    if (session === undefined) throw new Error("Unreachable: the pool introduces each connection");
    return session;
  }

  function obtain(): Promise<pg.PoolClient> {
    // A call takes an idle connection only in the next tick, and counts as waiting until then.
    if (observer === null || pool.idleCount > pool.waitingCount) return pool.connect();
    const wait = () =>
      pool.connect().catch((error) => {
        throw toServiceError(error);
      });
    return observer.observe({ kind: "wait", for: "connection" }, wait);
  }

  async function connect(): Promise<pg.PoolClient> {
    for (;;) {
      const client = await obtain();
      const session = sessionOf(client);
      const isKnown = () =>
        performance.now() - session.askedMs < CLOCK_MS ||
        introduce(client).then(
          () => true,
          () => false,
        );
      if (session.renewals === renewals && (await isKnown())) return client;
      client.release(true);
    }
  }

  return {
    pool,
    sessionOf,
    connect,
    observeWaits(given: Observer) {
      observer = given;
    },
    /** Closes all connections, those in use after their call. The next calls resolve the address anew. */
    renew() {
      renewals++;
    },
  };
}

/** Parses bigint as a number: counts and IDs are far below 2^53. */
const getTypeParser: typeof pg.types.getTypeParser = (oid: number, format?: "text" | "binary") =>
  oid === BIGINT_OID ? Number : pg.types.getTypeParser(oid, format as "text");

/** The sockets of a pool. `close` destroys them, because a hung server would keep the process alive. */
interface PostgresSockets {
  create(): Socket;
  destroyAll(): void;
}

export function createPostgresSockets(): PostgresSockets {
  const open = new Set<Socket>();
  return {
    create() {
      const socket = new Socket();
      open.add(socket);
      socket.once("close", () => open.delete(socket));
      return socket;
    },
    destroyAll() {
      for (const socket of open) socket.destroy();
    },
  };
}
