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
/** A Sentinel that hangs is noticed after three times as long. */
const PING_MS = 3000;
/** A master that fails calls is looked at no more often than this. */
const DOUBT_PAUSE_MS = 500;

/**
 * The master that Sentinels watch. It asks them at the start, when the connection is lost, and when a call fails as it would at
 * a server that is not the master any more; and each of them announces a fail-over. A server that Sentinels do not call the
 * master, or that does not call itself one, is not written to.
 */
export function createSentinelDriver(settings: RedisSettings, sentinel: SentinelSettings): RedisDriver {
  const { timeoutMs, addresses } = settings;
  const trouble = createTrouble(settings);
  let master: ServerDriver | undefined;
  let place = "";
  let search: Promise<void> | undefined;
  // The search whose result counts.
  let turn = 0;
  let failures = 0;
  let searchedAt = Number.NEGATIVE_INFINITY;
  let retry: NodeJS.Timeout | undefined;
  let isEnded = false;

  function leave(graceMs: number): void {
    master?.retire(graceMs);
    master = undefined;
  }

  /** Looks for the master, unless that is under way. @param isNews has one that is under way begin again. */
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

  /** Resolves when there is a master, or none is being looked for. */
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
    // Calls that are under way at a server that was replaced must not be acknowledged by it.
    if (found !== place) leave(0);
    place = found;
    if (master !== undefined && (await isMaster(master).catch(() => false))) return;
    if (!isCurrent()) return;
    // One that hangs may still answer calls in time.
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
    const [role] = (await beforeDeadline(driver.send("", ["ROLE"]), timeoutMs)) as [Buffer]; // As ROLE answers.
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
 * Has a Sentinel tell of fail-overs.
 * @param onNews is given the name of a master that was replaced; `null` when news may have been missed.
 */
function watch(
  settings: RedisSettings,
  address: RedisAddress,
  onNews: (name: string | null) => void,
): ServerDriver {
  const driver = createServerDriver(settings, address, { pingMs: PING_MS });
  let isSubscribed = false;
  driver.client.on("ready", () => {
    // The client subscribes again by itself what it has subscribed once.
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
