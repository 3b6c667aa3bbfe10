import type { SqlDriver, SqlRunner } from "../driver/sql-driver.ts";
import { type SqlDatabase, useDatabase } from "../sql-database.ts";
import { type FoundPage, LEASED, type LeasedPage, leaseOf, type PageRow, pageOf } from "./leased-page.ts";

/** What the robots.txt of an origin contained. */
export interface StoredRobots {
  etag: string | null;
  modified: string | null;
  body: string;
}

interface DomainRow {
  pages: number;
  max_pages: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const LEASE_MS = 45_000;
export const MIN_INTERVAL_DAYS = 7;
/** How often a process looks whether a page of another one led to more. */
const LOOK_AGAIN_MS = 1000;
/** After so many failures a page is tried once a month. */
const MAX_FAILURES = 5;
/** Pages that failed come after all that did not: ranks are below 10. */
const DUE_AT_ONCE = "rank + 10 * failures";

/**
 * The pages to read and the turns of their hosts, shared by all processes on a database. A page whose process died is leased again
 * after 45 seconds.
 */
export class PageFrontier {
  readonly #driver: SqlDriver;

  constructor(database: SqlDatabase) {
    this.#driver = useDatabase(database);
  }

  /**
   * Adds a domain with its first pages, and makes its known pages due if `isNow`.
   * @param maxPages If it grew, all pages are requested again as if they had never been.
   */
  async begin(
    domain: string,
    pages: readonly FoundPage[],
    { isNow, maxPages }: { isNow: boolean; maxPages: number },
  ): Promise<void> {
    await this.#driver.run(
      "INSERT INTO lookup_page_domains (name, pages, max_pages) VALUES ($1, 0, $2) ON CONFLICT DO NOTHING",
      [domain, maxPages],
    );
    await this.add(domain, pages);
    await this.#inDomain(domain, async (runner, known) => {
      const isMore = known.max_pages < maxPages;
      if (isMore) {
        await runner.run(
          "UPDATE lookup_pages SET etag = NULL, modified = NULL, digest = NULL WHERE domain = $1",
          [domain],
        );
      }
      // Pages that were never read do not count until they are requested again.
      const freed = await runner.run(
        `UPDATE lookup_pages SET is_new = 1 WHERE domain = $1 AND is_new = 0 AND is_leased = 0 AND is_sitemap = 0
           AND uri IS NULL AND misses = 0`,
        [domain],
      );
      // Every run tries them. A sitemap that was only guessed is not tried.
      await runner.run(
        `UPDATE lookup_pages SET due_at = ${DUE_AT_ONCE} WHERE domain = $1 AND is_leased = 0 AND due_at > ${DUE_AT_ONCE}
           AND ((misses = 0 AND uri IS NULL AND failures < ${MAX_FAILURES}) OR ($2 = 1 AND (misses = 0 OR is_sitemap = 0)))`,
        [domain, Number(isNow || isMore)],
      );
      await runner.run("UPDATE lookup_page_domains SET pages = $2, max_pages = $3 WHERE name = $1", [
        domain,
        known.pages - freed,
        maxPages,
      ]);
    });
  }

  /** Adds the pages that are unknown. */
  async add(domain: string, pages: readonly FoundPage[]): Promise<void> {
    const rows = pages.map(({ key, url, isSitemap, depth, rank }) => [
      key,
      url,
      Number(isSitemap),
      depth,
      rank,
    ]);
    if (rows.length === 0) return;
    await this.#inDomain(domain, async (runner) => {
      await runner.run(
        `INSERT INTO lookup_pages
         (domain, page_key, url, is_sitemap, depth, rank, due_at, is_leased, is_new, interval_days, misses, failures)
       SELECT $1, each.value->>0, each.value->>1, CAST(each.value->>2 AS integer), CAST(each.value->>3 AS integer),
         CAST(each.value->>4 AS integer), CAST(each.value->>4 AS integer), 0, 1, ${MIN_INTERVAL_DAYS}, 0, 0
       FROM ${this.#driver.dialect.rows("$2")} WHERE true ON CONFLICT DO NOTHING`,
        [domain, JSON.stringify(rows)],
      );
    });
  }

  /**
   * Leases the next page that is due.
   * @param maxPages Pages of the domain that are ever requested. Then the new ones are dropped.
   * @returns how long to wait if other processes read the last pages; `null` if none is due.
   */
  async take(domain: string, maxPages: number, nowMs: number): Promise<LeasedPage | number | null> {
    return await this.#inDomain(domain, async (runner, { pages }) => {
      if (pages >= maxPages) {
        await runner.run("DELETE FROM lookup_pages WHERE domain = $1 AND is_new = 1", [domain]);
      }
      const found = await runner.first<PageRow & { is_new: number }>(
        "SELECT * FROM lookup_pages WHERE domain = $1 AND due_at <= $2 ORDER BY due_at, seq LIMIT 1",
        [domain, nowMs],
      );
      if (found === undefined) {
        const leased = await runner.first<{ due_at: number }>(
          "SELECT due_at FROM lookup_pages WHERE domain = $1 AND is_leased = 1 ORDER BY due_at LIMIT 1",
          [domain],
        );
        return leased === undefined ? null : Math.min(LOOK_AGAIN_MS, Math.max(1, leased.due_at - nowMs));
      }
      if (found.is_new === 1 && found.is_sitemap === 0) {
        await runner.run("UPDATE lookup_page_domains SET pages = pages + 1 WHERE name = $1", [domain]);
      }
      const leasedUntilMs = nowMs + LEASE_MS;
      await runner.run("UPDATE lookup_pages SET is_leased = 1, is_new = 0, due_at = $2 WHERE seq = $1", [
        found.seq,
        leasedUntilMs,
      ]);
      return pageOf(found, leasedUntilMs);
    });
  }

  /** Runs work that excludes the same of other processes. @returns `null` for a domain that was erased meanwhile. */
  async #inDomain<T>(
    domain: string,
    work: (runner: SqlRunner, known: DomainRow) => Promise<T>,
  ): Promise<T | null> {
    // In an embedded database this is the only writer.
    const lock = this.#driver.dialect.kind === "postgres" ? "FOR UPDATE" : "";
    return await this.#driver.write(async (runner) => {
      const known = await runner.first<DomainRow>(
        `SELECT pages, max_pages FROM lookup_page_domains WHERE name = $1 ${lock}`,
        [domain],
      );
      return known === undefined ? null : await work(runner, known);
    });
  }

  /** Extends the lease. @returns `null` if another process has leased the page since. */
  async renew(page: LeasedPage, nowMs: number): Promise<LeasedPage | null> {
    const leasedUntilMs = nowMs + LEASE_MS;
    const renewed = await this.#driver.run(`UPDATE lookup_pages SET due_at = $3 WHERE ${LEASED}`, [
      ...leaseOf(page),
      leasedUntilMs,
    ]);
    return renewed === 0 ? null : { ...page, leasedUntilMs };
  }

  /** Ends the lease without a visit. @param dueMs When the page is due again. @default at once */
  async release(page: LeasedPage, dueMs: number = page.rank): Promise<void> {
    await this.#driver.run(`UPDATE lookup_pages SET is_leased = 0, due_at = $3 WHERE ${LEASED}`, [
      ...leaseOf(page),
      dueMs,
    ]);
  }

  /** Ends the lease of a page that could not be read. */
  async fail(page: LeasedPage, nowMs: number): Promise<void> {
    const dueMs = nowMs + (page.failures + 1 < MAX_FAILURES ? HOUR_MS : 30 * DAY_MS);
    await this.#driver.run(
      `UPDATE lookup_pages SET is_leased = 0, due_at = $3, failures = failures + 1 WHERE ${LEASED}`,
      [...leaseOf(page), dueMs],
    );
  }

  /** Ends the lease of a page that may not be requested. A new one does not count as a page of its domain. */
  async skip(page: LeasedPage, nowMs: number): Promise<void> {
    if (page.uri !== null || page.isSitemap) return this.release(page, nowMs + DAY_MS);
    await this.#inDomain(page.domain, async (runner, { pages }) => {
      const freed = await runner.run(
        `UPDATE lookup_pages SET is_leased = 0, is_new = 1, due_at = $3 WHERE ${LEASED}`,
        [...leaseOf(page), nowMs + DAY_MS],
      );
      await runner.run("UPDATE lookup_page_domains SET pages = $2 WHERE name = $1", [
        page.domain,
        pages - freed,
      ]);
    });
  }

  /** Pages of a domain that were ever read. */
  async count(domain: string): Promise<number> {
    const row = await this.#driver.first<{ pages: number | string }>(
      "SELECT count(*) AS pages FROM lookup_pages WHERE domain = $1 AND uri IS NOT NULL AND is_sitemap = 0",
      [domain],
    );
    return Number(row?.pages ?? 0);
  }

  /**
   * Takes the turn of a host.
   * @param untilMs When the turn ends if this process dies.
   * @returns 0, or the milliseconds until the host is free.
   */
  async enter(host: string, nowMs: number, untilMs: number): Promise<number> {
    const taken = await this.#driver.run(
      `INSERT INTO lookup_page_hosts (host, free_at) VALUES ($1, $3)
       ON CONFLICT (host) DO UPDATE SET free_at = excluded.free_at WHERE lookup_page_hosts.free_at <= $2`,
      [host, nowMs, untilMs],
    );
    if (taken > 0) return 0;
    const row = await this.#driver.first<{ free_at: number }>(
      "SELECT free_at FROM lookup_page_hosts WHERE host = $1",
      [host],
    );
    return Math.max(1, (row?.free_at ?? 0) - nowMs);
  }

  /** Ends the turn. @param freeMs When the next one may begin. */
  async leave(host: string, freeMs: number): Promise<void> {
    await this.#driver.run("UPDATE lookup_page_hosts SET free_at = $2 WHERE host = $1", [host, freeMs]);
  }

  /** Deletes old rows: turns that ended a day ago, and each robots.txt 90 days after its change. */
  async expire(nowMs: number): Promise<void> {
    await this.#driver.run("DELETE FROM lookup_page_hosts WHERE free_at < $1", [nowMs - DAY_MS]);
    await this.#driver.run("DELETE FROM lookup_page_robots WHERE read_at < $1", [nowMs - 90 * DAY_MS]);
  }

  async robots(origin: string): Promise<StoredRobots | null> {
    const select = "SELECT etag, modified, body FROM lookup_page_robots WHERE origin = $1";
    return (await this.#driver.first<StoredRobots>(select, [origin])) ?? null;
  }

  async keepRobots(origin: string, { etag, modified, body }: StoredRobots): Promise<void> {
    await this.#driver.run(
      `INSERT INTO lookup_page_robots (origin, etag, modified, body, read_at) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (origin) DO UPDATE SET etag = excluded.etag, modified = excluded.modified, body = excluded.body,
         read_at = excluded.read_at`,
      [origin, etag, modified, body, Date.now()],
    );
  }
}
