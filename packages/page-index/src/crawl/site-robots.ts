import type { PageFrontier } from "@outrigger/sql";
import {
  BusyError,
  PageError,
  type PageFetcher,
  type PageReply,
  UnreachableError,
  validatorsOf,
} from "./page-fetcher.ts";
import { ALL_ALLOWED, MAX_ROBOTS_BYTES, NONE_ALLOWED, type RobotsRules, readRobots } from "./robots-rules.ts";

const MAX_CRAWL_DELAY_MS = 60_000;
/** RFC 9309 §2.4 bounds how long rules may be kept. */
const MAX_AGE_MS = 86_400_000;

export interface SiteRobotsParts {
  frontier: PageFrontier;
  fetcher: PageFetcher;
  isBarred(subjects: readonly string[]): Promise<ReadonlySet<string>>;
  signal: AbortSignal;
  note(text: string, url: string): void;
}

/** The robots.txt of each origin, read once in a run and at most once a day. */
export class SiteRobots {
  readonly #parts: SiteRobotsParts;
  readonly #rules = new Map<string, { rules: RobotsRules; readMs: number }>();
  readonly #unreachable = new Map<string, UnreachableError>();

  constructor(parts: SiteRobotsParts) {
    this.#parts = parts;
  }

  /** Whether a URL may be read. Rejects if its origin cannot be reached. @param hold As of a `PageRequest`. */
  async allows(url: URL, hold: () => Promise<void>, nowMs: number = Date.now()): Promise<boolean> {
    const { origin } = url;
    const failure = this.#unreachable.get(origin);
    if (failure !== undefined) throw failure;
    const known = this.#rules.get(origin);
    if (known !== undefined && nowMs - known.readMs < MAX_AGE_MS) return known.rules.allows(url);
    const rules = await this.#read(origin, hold).catch((error) => {
      if (error instanceof UnreachableError) this.#unreachable.set(origin, error);
      throw error;
    });
    this.#rules.set(origin, { rules, readMs: nowMs });
    if (rules.delayMs > MAX_CRAWL_DELAY_MS) {
      const note = `Crawl-delay of ${rules.delayMs / 1000} s, shortened to ${MAX_CRAWL_DELAY_MS / 1000} s`;
      this.#parts.note(note, `${origin}/robots.txt`);
    }
    return rules.allows(url);
  }

  delayMs(origin: string): number {
    return Math.min(MAX_CRAWL_DELAY_MS, this.#rules.get(origin)?.rules.delayMs ?? 0);
  }

  sitemaps(origin: string): readonly string[] {
    return this.#rules.get(origin)?.rules.sitemaps ?? [];
  }

  async #read(origin: string, hold: () => Promise<void>): Promise<RobotsRules> {
    const { fetcher, frontier, signal, isBarred } = this.#parts;
    const note = (text: string) => this.#parts.note(`robots.txt: ${text}`, `${origin}/robots.txt`);
    const stored = await frontier.robots(origin);
    const textOf = ({ status, body }: PageReply) =>
      status === 304 ? (stored?.body ?? "") : body.toString("utf8").replaceAll("\0", "");
    try {
      const reply = await fetcher.get(new URL("/robots.txt", origin), {
        ...{ maxBytes: MAX_ROBOTS_BYTES, accept: "", hold, signal },
        ...{ etag: stored?.etag ?? null, modified: stored?.modified ?? null },
        mayRead: async ({ hostname }) => (await isBarred([hostname])).size === 0,
        // The first page waits, too.
        delayMs: (_url, reply) =>
          reply === null ? 0 : Math.min(MAX_CRAWL_DELAY_MS, readRobots(origin, textOf(reply)).delayMs),
      });
      if (reply === null) return NONE_ALLOWED;
      const { status } = reply;
      if (status === 200) await frontier.keepRobots(origin, { ...validatorsOf(reply), body: textOf(reply) });
      if (status === 200 || status === 304) return readRobots(origin, textOf(reply));
      if (status === 204 || (status >= 400 && status < 500 && status !== 429)) return ALL_ALLOWED;
      note(`status ${status}`);
    } catch (error) {
      const isOther = error instanceof UnreachableError || error instanceof BusyError;
      if (isOther || !(error instanceof PageError)) throw error;
      note(error.message);
    }
    return NONE_ALLOWED;
  }
}
