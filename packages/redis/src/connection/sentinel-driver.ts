import { beforeDeadline } from "./before-deadline.ts";
import { findMaster } from "./find-master.ts";
import { reconnectPauseMs } from "./reconnect-pause.ts";
import {
  createServerDriver,
  createTrouble,
  type RedisArguments,
  type RedisDriver,
  type RedisReply,
  type ServerDriver,
} from "./redis-driver.ts";
import type { RedisAddress, RedisSettings, SentinelSettings } from "./redis-options.ts";

const SWITCHED = "+switch-master";
/** Interval of pings to a Sentinel. A hung Sentinel is detected after three intervals. */
const PING_MS = 3000;
/** Minimum pause between two searches that failed calls cause. */
const DOUBT_PAUSE_MS = 500;

/**
 * A driver of the master behind Sentinels. It queries the Sentinels at the start, when the connection is lost, when
 * a call fails as it would at a demoted master, and when a Sentinel announces a fail-over. It writes only to a
 * server that the Sentinels name and whose `ROLE` is `master`.
 */
export function createSentinelDriver(settings: RedisSettings, sentinel: SentinelSettings): RedisDriver {
  const { timeoutMs, addresses } = settings;
  const trouble = createTrouble(settings);
  let master: ServerDriver | undefined;
  let place = "";
  let search: Promise<void> | undefined;
  // Number of the current search; results of earlier ones are ignored.
  let turn = 0;
  let failures = 0;
  let searchedAt = Number.NEGATIVE_INFINITY;
  let retry: NodeJS.Timeout | undefined;
  let isEnded = false;

  function leave(graceMs: number): void {
    master?.retire(graceMs);
    master = undefined;
  }

  /**
   * Starts a search for the master, unless one is under way. @param isNews restarts a search that is under
   * way.
   */
  function look(isNews = false): void {
    if (isEnded || (search !== undefined && !isNews)) return;
    clearTimeout(retry);
    const mine = ++turn;
    const found = seek(() => mine === turn && !isEnded);
    search = found;
    found.then(
      () => settle(mine),
      (error) => settle(mine, error),
    );
  }

  function doubt(): void {
    if (performance.now() - searchedAt >= DOUBT_PAUSE_MS) look();
  }

  /** Resolves when there is a master or no search is under way. */
  async function settled(): Promise<void> {
    while (master === undefined && search !== undefined) await search.catch(() => undefined);
  }

  function settle(mine: number, error?: unknown): void {
    if (mine !== turn || isEnded) return;
    search = undefined;
    searchedAt = performance.now();
    if (error === undefined) {
      failures = 0;
      trouble.forget();
      return;
    }
    trouble.remember(error);
    retry = setTimeout(look, reconnectPauseMs(failures++)).unref();
  }

  async function seek(isCurrent: () => boolean): Promise<void> {
    const address = await findMaster(settings, sentinel);
    if (!isCurrent()) return;
    const found = `${address.host} ${address.port}`;
    // A replaced server must not acknowledge calls that are under way there.
    if (found !== place) leave(0);
    place = found;
    if (master !== undefined && (await isMaster(master).catch(() => false))) return;
    if (!isCurrent()) return;
    // A hung server may still answer calls in time.
    leave(timeoutMs + 1000);
    const next = createServerDriver(settings, address, { reconnects: false });
    try {
      await beforeDeadline(next.connected, timeoutMs);
      if (!(await isMaster(next))) throw new Error("The server that the Sentinels name is not a master yet.");
      if (!isCurrent()) throw new Error("The Sentinels named another master.");
    } catch (error) {
      next.retire(0);
      throw error;
    }
    master = next;
    next.client.on("error", () => {
      if (master !== next || next.client.isOpen) return;
      leave(0);
      look();
    });
  }

  async function isMaster(driver: RedisDriver): Promise<boolean> {
    const [role] = (await beforeDeadline(driver.send("", ["ROLE"]), timeoutMs)) as [Buffer]; // The reply of ROLE.
    return String(role) === "master";
  }

  function current(): RedisDriver {
    if (master === undefined) throw trouble.last() ?? new Error("No Redis master is known.");
    return master;
  }

  const send = async (args: RedisArguments): Promise<RedisReply> => current().send("", args);
  const watchers = addresses.map((address) =>
    watch(settings, address, (switched) => {
      if (switched === null) doubt();
      else if (switched === sentinel.name) look(true);
    }),
  );
  look();

  function end(): void {
    isEnded = true;
    clearTimeout(retry);
    leave(0);
    for (const watcher of watchers) watcher.retire(0);
  }

  return {
    get client() {
      return current().client;
    },
    get connected() {
      return settled();
    },
    send: (_key, args) => send(args),
    nodes: async () => [{ id: "", send }],
    trouble: () => (master === undefined ? trouble.last() : undefined),
    retire(graceMs) {
      if (graceMs === 0) end();
      else setTimeout(end, graceMs).unref();
    },
    isRetired: () => isEnded,
    doubt,
  };
}

/**
 * Subscribes to the fail-overs that a Sentinel announces.
 * @param onNews Receives the name of a replaced master; `null` if announcements may have been missed.
 */
function watch(
  settings: RedisSettings,
  address: RedisAddress,
  onNews: (name: string | null) => void,
): ServerDriver {
  const driver = createServerDriver(settings, address, { pingMs: PING_MS });
  let isSubscribed = false;
  driver.client.on("ready", () => {
    // After a reconnect the client restores its subscriptions by itself.
    if (isSubscribed) {
      onNews(null);
      return;
    }
    isSubscribed = true;
    driver.client
      .subscribe(SWITCHED, (message) => onNews(message.split(" ", 1)[0] ?? ""))
      .then(
        () => onNews(null),
        () => {
          isSubscribed = false;
        },
      );
  });
  return driver;
}
