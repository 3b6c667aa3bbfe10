import type { PageFrontier } from "@outrigger/sql";
import { BusyError, PageError, type PageFetcher, UnreachableError, validatorsOf } from "./page-fetcher.ts";
import { ALL_ALLOWED, MAX_ROBOTS_BYTES, NONE_ALLOWED, type RobotsRules, readRobots } from "./robots-rules.ts";

const MAX_CRAWL_DELAY_MS = 60_000;

export interface SiteRobotsParts {
  frontier: PageFrontier;
  fetcher: PageFetcher;
  signal: AbortSignal;
  note(text: string): void;
}

/** The robots.txt of each origin, read once in a run. */
export class SiteRobots {
  readonly #parts: SiteRobotsParts;
  readonly #rules = new Map<string, RobotsRules>();

  constructor(parts: SiteRobotsParts) {
    this.#parts = parts;
  }

  /** Whether a URL may be read. Rejects if its origin cannot be reached. @param hold As of a `PageRequest`. */
  async allows(url: URL, hold: () => Promise<void>): Promise<boolean> {
    const { origin } = url;
    let rules = this.#rules.get(origin);
    if (rules === undefined) {
      rules = await this.#read(origin, hold);
      this.#rules.set(origin, rules);
      const { delayMs } = rules;
      if (delayMs > MAX_CRAWL_DELAY_MS)
        this.#parts.note(`Crawl-delay of ${delayMs / 1000} s, shortened to ${MAX_CRAWL_DELAY_MS / 1000} s`);
    }
    return rules.allows(url);
  }

  delayMs(origin: string): number {
    return Math.min(MAX_CRAWL_DELAY_MS, this.#rules.get(origin)?.delayMs ?? 0);
  }

  sitemaps(origin: string): readonly string[] {
    return this.#rules.get(origin)?.sitemaps ?? [];
  }

  async #read(origin: string, hold: () => Promise<void>): Promise<RobotsRules> {
    const { fetcher, frontier, signal, note } = this.#parts;
    const stored = await frontier.robots(origin);
    try {
      const reply = await fetcher.get(new URL("/robots.txt", origin), {
        ...{ maxBytes: MAX_ROBOTS_BYTES, accept: "", hold, signal },
        ...{ etag: stored?.etag ?? null, modified: stored?.modified ?? null },
        mayRead: async () => true,
        delayMs: () => 0,
      });
      const status = reply?.status ?? 0;
      if (status === 304 && stored !== null) return readRobots(origin, stored.body);
      if (status === 200 && reply !== null) {
        const body = reply.body.toString("utf8").replaceAll("\0", "");
        await frontier.keepRobots(origin, { ...validatorsOf(reply), body });
        return readRobots(origin, body);
      }
      if (status >= 400 && status < 500 && status !== 429) return ALL_ALLOWED;
      note(`robots.txt: status ${status}`);
    } catch (error) {
      const isOther = error instanceof UnreachableError || error instanceof BusyError;
      if (isOther || !(error instanceof PageError)) throw error;
      note(`robots.txt: ${error.message}`);
    }
    return NONE_ALLOWED;
  }
}
