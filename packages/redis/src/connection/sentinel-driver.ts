import { beforeDeadline } from "./before-deadline.ts";
import { findMaster } from "./find-master.ts";
import {
  createServerDriver,
  createTrouble,
  type RedisArguments,
  type RedisClient,
  type RedisDriver,
  type RedisNode,
  type RedisReply,
  reconnectPauseMs,
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
export class SentinelDriver implements RedisDriver {
  readonly #settings: RedisSettings;
  readonly #sentinel: SentinelSettings;
  readonly #trouble: ReturnType<typeof createTrouble>;
  readonly #watchers: readonly ServerDriver[];
  #master: ServerDriver | undefined;
  #place = "";
  #search: Promise<void> | undefined;
  /** Number of the current search; results of earlier ones are ignored. */
  #searches = 0;
  #failures = 0;
  #searchedAt = Number.NEGATIVE_INFINITY;
  #retry: NodeJS.Timeout | undefined;
  #isEnded = false;

  constructor(settings: RedisSettings, sentinel: SentinelSettings) {
    this.#settings = settings;
    this.#sentinel = sentinel;
    this.#trouble = createTrouble(settings);
    this.#watchers = settings.addresses.map((address) =>
      watch(settings, address, (switched) => {
        if (switched === null) this.suspectMaster();
        else if (switched === sentinel.name) this.#startSearch(true);
      }),
    );
    this.#startSearch();
  }

  get client(): RedisClient {
    return this.#current().client;
  }

  /** Resolves when there is a master or no search is under way. */
  get connected(): Promise<void> {
    return this.#settled();
  }

  async send(_key: string, args: RedisArguments): Promise<RedisReply> {
    return this.#current().send("", args);
  }

  async nodes(): Promise<RedisNode[]> {
    return [{ id: "", send: (args) => this.send("", args) }];
  }

  trouble(): unknown {
    return this.#master === undefined ? this.#trouble.last() : undefined;
  }

  retire(graceMs: number): void {
    if (graceMs === 0) this.#end();
    else setTimeout(() => this.#end(), graceMs).unref();
  }

  isRetired(): boolean {
    return this.#isEnded;
  }

  suspectMaster(): void {
    if (performance.now() - this.#searchedAt >= DOUBT_PAUSE_MS) this.#startSearch();
  }

  #current(): RedisDriver {
    if (this.#master === undefined) throw this.#trouble.last() ?? new Error("No Redis master is known.");
    return this.#master;
  }

  async #settled(): Promise<void> {
    while (this.#master === undefined && this.#search !== undefined) {
      await this.#search.catch(() => undefined);
    }
  }

  /**
   * Starts a search for the master, unless one is under way. @param isNews restarts a search that is under
   * way.
   */
  #startSearch(isNews = false): void {
    if (this.#isEnded || (this.#search !== undefined && !isNews)) return;
    clearTimeout(this.#retry);
    const mine = ++this.#searches;
    this.#search = this.#seek(() => mine === this.#searches && !this.#isEnded);
    this.#search.then(
      () => this.#conclude(mine),
      (error) => this.#conclude(mine, error),
    );
  }

  #conclude(search: number, error?: unknown): void {
    if (search !== this.#searches || this.#isEnded) return;
    this.#search = undefined;
    this.#searchedAt = performance.now();
    if (error === undefined) {
      this.#failures = 0;
      this.#trouble.forget();
      return;
    }
    this.#trouble.remember(error);
    this.#retry = setTimeout(() => this.#startSearch(), reconnectPauseMs(this.#failures++)).unref();
  }

  async #seek(isCurrent: () => boolean): Promise<void> {
    const settings = this.#settings;
    const address = await findMaster(settings, this.#sentinel);
    if (!isCurrent()) return;
    const found = `${address.host} ${address.port}`;
    // A replaced server must not acknowledge calls that are under way there.
    if (found !== this.#place) this.#leave(0);
    this.#place = found;
    if (this.#master !== undefined && (await this.#isMaster(this.#master).catch(() => false))) return;
    if (!isCurrent()) return;
    // A hung server may still answer calls in time.
    this.#leave(settings.timeoutMs + 1000);
    const next = createServerDriver(settings, address, { reconnects: false });
    try {
      await beforeDeadline(next.connected, settings.timeoutMs);
      if (!(await this.#isMaster(next))) {
        throw new Error("The server that the Sentinels name is not a master yet.");
      }
      if (!isCurrent()) throw new Error("The Sentinels named another master.");
    } catch (error) {
      next.retire(0);
      throw error;
    }
    this.#master = next;
    next.client.on("error", () => {
      if (this.#master !== next || next.client.isOpen) return;
      this.#leave(0);
      this.#startSearch();
    });
  }

  async #isMaster(driver: RedisDriver): Promise<boolean> {
    const reply = await beforeDeadline(driver.send("", ["ROLE"]), this.#settings.timeoutMs);
    const [role] = reply as [Buffer]; // The reply of ROLE.
    return String(role) === "master";
  }

  #leave(graceMs: number): void {
    this.#master?.retire(graceMs);
    this.#master = undefined;
  }

  #end(): void {
    this.#isEnded = true;
    clearTimeout(this.#retry);
    this.#leave(0);
    for (const watcher of this.#watchers) watcher.retire(0);
  }
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
