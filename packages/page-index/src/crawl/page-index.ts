import { ServiceError } from "@outrigger/core";
import { createSuppressions, organizationDomain } from "@outrigger/core/lookup";
import { checkOptions, isHostEntry, rules, shapes, VERSION } from "@outrigger/core/stores";
import {
  createSqlSuppressionList,
  expireContacts,
  PageFrontier,
  refreshContacts,
  type SqlDatabase,
} from "@outrigger/sql";
import { getDomain } from "tldts";
import { DomainRun, type IndexedDomain } from "./domain-run.ts";
import { PageFetcher } from "./page-fetcher.ts";

const RULES = {
  /** The page about this robot with a way to object, or an address. Part of its `User-Agent`: `Outrigger/1.0 (+…)`. */
  contact: rules.required(
    rules.text("an http(s) URL or an email address, in ASCII", (text) =>
      /^(?:https?:\/\/|[!-'*-?A-~]+@)[!-'*-~]+$/.test(text),
    ),
  ),
  /** As `secret` of `createLookup`: without it, suppressed people cannot be recognised. */
  secret: rules.required(rules.secret()),
  /** As of `createLookup`. @default the list in the database */
  suppressions: shapes.suppressionList,
  /** Hosts of your own network, as `internalHosts` of `importUrls`. @default none: only the public internet */
  internalHosts: rules.preset(
    [],
    rules.texts("a list of hosts, such as cms.example or cms.example:8080", isHostEntry),
  ),
  /**
   * Milliseconds between two requests to a host, 0 to 60000; at least 1000 for hosts that are not in `internalHosts`. A longer
   * `Crawl-delay` counts, up to 60 seconds. @default 5000
   */
  perHostMs: rules.preset(5000, rules.time(0, 60_000)),
  /** Pages of a domain that are kept and read again, 1 to 100000. @default 50 */
  maxPages: rules.preset(50, rules.whole(1, 100_000)),
};

/** Options of {@link createPageIndex}. */
export interface PageIndexOptions extends rules.Options<typeof RULES> {}

const RUN_RULES = {
  /** Reads all known pages, also those that are not due. @default false */
  now: rules.preset(false, rules.flag()),
  /** Ends the run; it rejects with the signal's reason. The next run continues it. @default never */
  signal: shapes.abortSignal,
  /** Receives the account of the domain that is being read after each page, and with `true` at its end. @default ignored */
  onProgress: rules.fn<(progress: IndexedDomain, hasEnded: boolean) => void>(),
};

export interface IndexRunOptions extends rules.Options<typeof RUN_RULES> {}

/** Contacts from pages that the operator may index. */
export interface PageIndex {
  /**
   * Reads the pages of domains that are due, one domain after another, and stores their contacts. Processes can share the
   * work. Rejects with `bad_request` for a text that is no domain, with `host_misuse` for another secret, and with
   * `store_unavailable`.
   */
  index(domains: readonly string[], options?: IndexRunOptions): Promise<IndexedDomain[]>;
}

const RUN_MS = 3_600_000;

/**
 * Creates an index of pages. It only reads when called, obeys robots.txt, and never stores suppressed people.
 * @param database The lookup's. Stays open.
 * @throws TypeError for an invalid option.
 * @example
 * const pages = createPageIndex(database, { contact: "https://acme.example/robot", secret });
 * const [account] = await pages.index(["acme.example"]);
 */
export function createPageIndex(database: SqlDatabase, options: PageIndexOptions): PageIndex {
  const checked = checkOptions("createPageIndex", options, RULES);
  const { contact, secret, internalHosts, perHostMs, maxPages } = checked;
  const suppressions = createSuppressions(checked.suppressions ?? createSqlSuppressionList(database), secret);
  const frontier = new PageFrontier(database);
  const policy = { ports: [80, 443], internalHosts };
  const fetcher = new PageFetcher({
    ...{ frontier, policy, perHostMs },
    userAgent: `Outrigger/${VERSION} (+${contact})`,
  });

  return {
    async index(given, runOptions) {
      const {
        now,
        signal = new AbortController().signal,
        onProgress = () => {},
      } = checkOptions("index", runOptions, RUN_RULES);
      const domains = new Set(given.map(domainOf));
      await suppressions.ready();
      await expireContacts(database, Date.now());
      await frontier.expire(Date.now());
      const runMs = RUN_MS + maxPages * perHostMs;
      const isBarred = suppressions.barredFromIndex;
      const parts = { database, frontier, fetcher, policy, isBarred, maxPages, runMs, signal, onProgress };
      const accounts: IndexedDomain[] = [];
      for (const domain of domains) {
        try {
          const account = await new DomainRun(parts, domain).run(now);
          accounts.push(account);
          onProgress(account, true);
        } finally {
          await refreshContacts(database);
        }
      }
      return accounts;
    },
  };
}

/** @throws ServiceError */
function domainOf(text: string): string {
  const domain = organizationDomain(text);
  if (domain !== null && getDomain(domain, { allowPrivateDomains: true }) !== null) return domain;
  throw new ServiceError(
    "bad_request",
    `${text.slice(0, 300)} is not the domain of an organisation, such as acme.example`,
  );
}
