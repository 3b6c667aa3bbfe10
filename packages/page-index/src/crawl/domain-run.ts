import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { isServiceError } from "@outrigger/core";
import { checkRemoteUrl, type RemotePolicy } from "@outrigger/core/stores";
import { isError } from "@outrigger/core/values";
import {
  type FoundPage,
  type LeasedPage,
  type PageFrontier,
  type PageVisit,
  type SqlDatabase,
  storeVisit,
} from "@outrigger/sql";
import { decodePage } from "../extract/decode-page.ts";
import { resolvedUrl } from "../extract/page-head.ts";
import { readPage } from "../extract/read-page.ts";
import { readRobotsTag } from "../extract/robots-tag.ts";
import { foundPages, MAX_URL_LENGTH, pageKey, plainUrl, startUrls } from "./page-address.ts";
import {
  BusyError,
  isAccepted,
  PageError,
  type PageFetcher,
  type PageReply,
  UnreachableError,
  validatorsOf,
} from "./page-fetcher.ts";
import { SiteRobots } from "./site-robots.ts";
import { foundSitemaps, MAX_SITEMAP_BYTES, readSitemap } from "./sitemap.ts";

const PAGE_TYPES = "text/html, application/xhtml+xml";
const MAX_PAGE_BYTES = 2 * 1024 * 1024;
const MAX_DEPTH = 2;
const MAX_LINKS = 500;
const MAX_CONTACTS = 2000;
const MAX_NOTES = 50;
/** Refusals one after another (403, 429, 5xx) that end a run. */
const MAX_REFUSALS = 3;
const HOUR_MS = 3_600_000;

/** What a run did with the pages of a domain. */
export interface IndexedDomain {
  domain: string;
  /** Pages with new content. */
  read: number;
  /** Pages with the same contacts as before. */
  unchanged: number;
  /** Pages that robots.txt forbids to read or the page itself to store. */
  disallowed: number;
  /** Pages that show nothing without JavaScript. */
  needScript: number;
  /** Pages of which only the first 2 MiB, or the first 2000 addresses, were read. */
  cut: number;
  /** Why pages could not be read, and the like, with the number of pages. */
  notes: Record<string, number>;
  /** The URL of one such page for each of the notes. */
  examples: Record<string, string>;
  /** Addresses: new ones, those with news, those that a page no longer shows. */
  added: number;
  updated: number;
  gone: number;
  /** Pages of the domain that were ever read. */
  pages: number;
  /** Why the run ended before its last page; `null` if it did not. */
  stopped: string | null;
}

export interface RunParts {
  database: SqlDatabase;
  frontier: PageFrontier;
  fetcher: PageFetcher;
  policy: RemotePolicy;
  isBarred(subjects: readonly string[]): Promise<ReadonlySet<string>>;
  maxPages: number;
  /** Longest time of a run. */
  runMs: number;
  signal: AbortSignal;
  onProgress(progress: IndexedDomain, hasEnded: boolean): void;
}

/** The lease of a page ended, and another process has it. */
class LeaseLost extends Error {}

/** Reads the pages of one domain that are due. */
export class DomainRun {
  readonly #parts: RunParts;
  readonly #domain: string;
  readonly #robots: SiteRobots;
  readonly #account: IndexedDomain;
  #refusals = 0;
  /** The last host that was too busy. */
  #busy: string | null = null;

  constructor(parts: RunParts, domain: string) {
    this.#parts = parts;
    this.#domain = domain;
    this.#robots = new SiteRobots({ ...parts, note: (text, url) => this.#note(text, url) });
    this.#account = {
      ...{ domain, read: 0, unchanged: 0, disallowed: 0, needScript: 0, cut: 0 },
      ...{ notes: {}, examples: {}, added: 0, updated: 0, gone: 0, pages: 0, stopped: null },
    };
  }

  async run(isNow: boolean): Promise<IndexedDomain> {
    const { frontier, maxPages, runMs, signal, isBarred, onProgress } = this.#parts;
    const account = this.#account;
    if ((await isBarred([this.#domain])).size > 0)
      return { ...account, stopped: "it is suppressed or was erased" };
    const [first = ""] = startUrls(this.#domain, this.#parts.policy.internalHosts);
    const start: FoundPage = { key: this.#domain, url: first, isSitemap: false, depth: 0, rank: 0 };
    await frontier.begin(this.#domain, [start], { isNow, maxPages });
    const endMs = performance.now() + runMs;
    while (account.stopped === null) {
      signal.throwIfAborted();
      if (performance.now() > endMs) account.stopped = `it took ${Math.round(runMs / 60_000)} minutes`;
      const next = account.stopped === null ? await frontier.take(this.#domain, maxPages, Date.now()) : null;
      if (next === null) break;
      if (typeof next === "number") await delay(next, undefined, { signal }).catch(() => {});
      else await this.#visit(next);
      onProgress(account, false);
    }
    account.stopped ??= this.#busy;
    account.pages = await frontier.count(this.#domain);
    return account;
  }

  async #visit(given: LeasedPage): Promise<void> {
    const { frontier, signal } = this.#parts;
    let page = given;
    const hold = async () => {
      const renewed = await frontier.renew(page, Date.now());
      if (renewed === null) throw new LeaseLost();
      page = renewed;
    };
    try {
      const reply = await this.#get(page, hold);
      if (reply === null) {
        this.#account.disallowed++;
        await frontier.skip(page, Date.now());
      } else {
        await hold();
        await this.#take(page, reply);
      }
    } catch (error) {
      if (error instanceof LeaseLost) return;
      // Any other error comes of what the site sent.
      const isOurs = signal.aborted || isServiceError(error);
      if (isOurs) await frontier.release(page);
      else if (error instanceof BusyError) await frontier.release(page, Date.now() + HOUR_MS);
      else await frontier.fail(page, Date.now());
      signal.throwIfAborted();
      if (isOurs || !isError(error)) throw error;
      if (error instanceof BusyError) this.#busy = error.message;
      else this.#note(error.message, page.url);
    }
  }

  /** @returns `null` if the page may not be read. */
  async #get(page: LeasedPage, hold: () => Promise<void>): Promise<PageReply | null> {
    const { fetcher, signal, isBarred } = this.#parts;
    const urls = page.rank === 0 ? startUrls(this.#domain, this.#parts.policy.internalHosts) : [page.url];
    let first: UnreachableError | null = null;
    for (const url of urls) {
      try {
        return await fetcher.get(new URL(url), {
          maxBytes: page.isSitemap ? MAX_SITEMAP_BYTES : MAX_PAGE_BYTES,
          accept: page.isSitemap ? "" : PAGE_TYPES,
          ...{ etag: page.etag, modified: page.modified },
          mayRead: async (target) =>
            (await isBarred([target.hostname])).size === 0 && (await this.#robots.allows(target, hold)),
          delayMs: ({ origin }) => this.#robots.delayMs(origin),
          ...{ hold, signal },
        });
      } catch (error) {
        if (!(error instanceof UnreachableError)) throw error;
        // The last place is the least likely one.
        first ??= error;
      }
    }
    throw first ?? new PageError("no URL");
  }

  async #take(page: LeasedPage, reply: PageReply): Promise<void> {
    const { status } = reply;
    if (status === 403 || status === 429 || status >= 500) {
      this.#refusals++;
      if (this.#refusals === MAX_REFUSALS) {
        this.#account.stopped = `${MAX_REFUSALS} refusals one after another, the last with status ${status}`;
      }
      throw new PageError(`status ${status}`);
    }
    this.#refusals = 0;
    const tags = readRobotsTag(reply.robotsTags);
    if (status === 304 && !tags.noIndex) {
      this.#account.unchanged++;
      return await this.#store(page, { kind: "same" });
    }
    if (status === 404 || status === 410) {
      if (!page.isSitemap) this.#note(`status ${status}`, page.url);
      return await this.#store(page, { kind: "missing" });
    }
    if (status !== 200 && status !== 304) throw new PageError(`status ${status}`);
    if (page.isSitemap) {
      for await (const found of readSitemap(reply.body, this.#domain, page.depth)) {
        await this.#parts.frontier.add(this.#domain, found);
      }
      return await this.#store(page, emptyVisit(page.key, page.url, reply));
    }
    await this.#readPage(page, reply, tags);
  }

  async #readPage(page: LeasedPage, reply: PageReply, tags: ReturnType<typeof readRobotsTag>): Promise<void> {
    const account = this.#account;
    const type = reply.headers["content-type"];
    const here = plainUrl(reply.url);
    if (page.rank === 0) await this.#addSitemaps(reply.url.origin);
    if (reply.status === 304 || !isAccepted(type, PAGE_TYPES)) {
      if (reply.status === 304) account.disallowed++;
      else this.#note("not HTML", page.url);
      return await this.#store(page, emptyVisit(pageKey(here), here.href, reply, false));
    }
    const html = decodePage(reply.body, type);
    const content = readPage(html, { url: here, domain: this.#domain });
    const isStored = content.isIndexable && !tags.noIndex;
    if (reply.isCut || content.contacts.length > MAX_CONTACTS) account.cut++;
    if (content.needsScript) account.needScript++;
    const url = content.url.href.length > MAX_URL_LENGTH ? here : plainUrl(content.url);
    const contacts = isStored ? content.contacts.slice(0, MAX_CONTACTS) : [];
    const organization = isStored ? content.organization : null;
    // With validators, a header that changes later would not be seen.
    const isWhole = isStored && !tags.noFollow;
    const visit = { ...emptyVisit(pageKey(url), url.href, reply, isWhole), contacts, organization };
    visit.digest = sha256(JSON.stringify(contacts));
    if (page.depth < MAX_DEPTH && !tags.noFollow) {
      const { frontier, policy } = this.#parts;
      const reachable = content.links.filter(
        ({ url }) => typeof checkRemoteUrl(url.href, policy) !== "string",
      );
      const found = foundPages(reachable, this.#domain, page.depth + 1);
      const others = found.filter(({ key }) => key !== pageKey(here) && key !== visit.key);
      await frontier.add(this.#domain, others.slice(0, MAX_LINKS));
    }
    if (!isStored) account.disallowed++;
    else if (visit.digest === page.digest) account.unchanged++;
    else account.read++;
    await this.#store(page, visit);
  }

  /** Adds those that robots.txt names, else the usual one. */
  async #addSitemaps(origin: string): Promise<void> {
    const named = this.#robots.sitemaps(origin).map((url) => resolvedUrl(url, origin));
    const urls = named.filter((url) => url !== null);
    if (urls.length === 0) urls.push(new URL("/sitemap.xml", origin));
    await this.#parts.frontier.add(this.#domain, foundSitemaps(urls, this.#domain, 0));
  }

  async #store(page: LeasedPage, visit: PageVisit): Promise<void> {
    const { database, isBarred } = this.#parts;
    const counts = await storeVisit(database, page, visit, isBarred, Date.now());
    for (const name of ["added", "updated", "gone"] as const) this.#account[name] += counts[name];
  }

  #note(reason: string, url: string): void {
    const { notes, examples } = this.#account;
    const key = reason in notes || Object.keys(notes).length < MAX_NOTES ? reason : "other reasons";
    notes[key] = (notes[key] ?? 0) + 1;
    examples[key] ??= url;
  }
}

/** A visit that found no contacts. @param isConditional Whether the next request asks for news only. */
function emptyVisit(
  key: string,
  uri: string,
  reply: PageReply,
  isConditional = true,
): PageVisit & { kind: "read" } {
  const { etag, modified } = isConditional ? validatorsOf(reply) : { etag: null, modified: null };
  return {
    kind: "read",
    uri,
    key,
    contacts: [],
    organization: null,
    etag,
    modified,
    digest: sha256(reply.body),
  };
}

function sha256(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("base64url");
}
