import type { ImagesOptions, LookupOptions } from "@outrigger/core";
import { IMAGES_RULES } from "@outrigger/core/images";
import { LOOKUP_RULES } from "@outrigger/core/lookup";
import { parseStorageUrl, ROLES, rules, secretBytes } from "@outrigger/core/stores";
import type { RendererOptions } from "@outrigger/imaging";
import type { MailProberOptions } from "@outrigger/verifier";
import type { Application } from "express";
import { ifInstalled, requireIfInstalled } from "../cli/parts.ts";
import { DATABASE_URL, parseDatabaseUrl } from "./targets/database-target.ts";

// A part that is not installed does not check its keys: nothing uses them.
const [imaging, verifier] = await Promise.all([
  ifInstalled("@outrigger/imaging", () => import("@outrigger/imaging")),
  ifInstalled("@outrigger/verifier", () => import("@outrigger/verifier/options")),
]);

/** Options of `createImages` that a configuration has under `images`. */
export const IMAGE_KEYS = [
  "allowedHosts",
  "fileFields",
  "convertUploads",
  "maxUploadBytes",
  "uploadIdleMs",
  "asyncAfterMs",
  "processUploads",
  "importUrls",
  "resumable",
  "keepMetadata",
  "keepPdfActions",
  "defaultLifetimeMs",
  "maxLifetimeMs",
  "tombstoneDays",
  "sweepEveryMs",
  "sizes",
  "presets",
  "cacheSeconds",
  "cacheTag",
  "sendfile",
  "memoryBytes",
  "rateLimits",
  "renderBudget",
  "cors",
  "ownerLimits",
  "onPurge",
  "webhooks",
  "reports",
] as const satisfies readonly (keyof ImagesOptions)[];

/** Options of `createLookup` that a configuration has under `lookup`. */
export const LOOKUP_KEYS = [
  "plans",
  "networkNames",
  "requestsPerSecond",
  "testKey",
] as const satisfies readonly (keyof LookupOptions)[];

/** Options of `createMailProber` that a configuration has under `lookup`. */
export const PROBER_KEYS = ["smtp", "dnsServers"] as const satisfies readonly (keyof MailProberOptions)[];

/** Limits of the renderer. */
export type ServerRendererConfig = RendererOptions;

const MIN_SECRET_BYTES = 32;
const SECRETS = `a text of at least ${MIN_SECRET_BYTES} bytes, or a list of such texts`;
const hostRule = rules.preset("127.0.0.1", rules.text("an address or a name", isFilled));
const secrets = rules.refined(rules.value<string | string[]>(SECRETS, areTexts, true), (given) =>
  [given].flat().flatMap((text, index): rules.OptionProblem[] => {
    if ((secretBytes(text)?.length ?? 0) >= MIN_SECRET_BYTES) return [];
    return typeof given === "string"
      ? [{ path: "", text: `must be ${SECRETS}` }]
      : [{ path: `.${index}`, text: `must have at least ${MIN_SECRET_BYTES} bytes` }];
  }),
);
const storageUrl = parsed("a URL", parseStorageUrl);

const STORAGE_RULES = {
  /** Image records: small, changed often. */
  records: rules.required(storageUrl),
  /** Originals: large, never changed. */
  originals: rules.required(storageUrl),
  /** Renditions in other formats and sizes. A lost rendition is rendered again. */
  renditions: rules.required(storageUrl),
};

/** A URL for each role. Roles with the same URL share one store. */
export interface ServerStorageConfig extends rules.Options<typeof STORAGE_RULES> {}

const IMAGES_CONFIG_RULES: Pick<typeof IMAGES_RULES, (typeof IMAGE_KEYS)[number]> = rules.pick(
  IMAGES_RULES,
  IMAGE_KEYS,
);

/** The image service: options of `createImages`. */
export interface ServerImagesConfig extends rules.Options<typeof IMAGES_CONFIG_RULES> {}
export interface CheckedImagesConfig extends rules.Checked<typeof IMAGES_CONFIG_RULES> {}
const imagesConfig: rules.Rule<ServerImagesConfig, "optional", CheckedImagesConfig> =
  rules.nested(IMAGES_CONFIG_RULES);

const LOOKUP_OPTION_RULES: Pick<typeof LOOKUP_RULES, (typeof LOOKUP_KEYS)[number]> = rules.pick(
  LOOKUP_RULES,
  LOOKUP_KEYS,
);

const LOOKUP_CONFIG_RULES = {
  /**
   * Database of contacts, accounts and suppressions: `file:./lookup.db`, or
   * `postgres://user:password@host:port/database`.
   * @default `lookup.db` in the directory of the images; required if the records are not in a directory
   */
  database: parsed(DATABASE_URL, parseDatabaseUrl),
  /**
   * At least 32 bytes, the same for all apps on one database: see `secret` of `createLookup`.
   * @default derived from `secret`
   */
  secret: secrets,
  ...LOOKUP_OPTION_RULES,
  ...(verifier === null
    ? {
        smtp: rules.any<MailProberOptions["smtp"]>(),
        dnsServers: rules.any<MailProberOptions["dnsServers"]>(),
      }
    : rules.pick(verifier.PROBER_RULES, PROBER_KEYS)),
};

/** The email lookup, served below `/v2` beside the images. */
export interface ServerLookupConfig extends rules.Options<typeof LOOKUP_CONFIG_RULES> {}

const LOG_RULES = {
  /** Lowest severity that is logged; `silent` logs nothing. @default "info" */
  level: rules.preset("info", rules.oneOf("fatal", "error", "warn", "info", "debug", "trace", "silent")),
  /**
   * Clients' addresses: whole, the network of each uploader (the /24 of IPv4, the /48 of IPv6), or none.
   * @default "network"
   */
  clients: IMAGES_RULES.logClients,
};

export interface ServerLogConfig extends rules.Options<typeof LOG_RULES> {}

const PAGES_RULES = {
  /** Email address, or `mailto:` or http(s) URL, in the footer of every page. @default no link */
  contact: rules.text("an email address, or a mailto: or http(s) URL", isFilled),
  /** Absolute http(s) URL of your terms, in the footer of every page. @default no link */
  terms: rules.text("an absolute http(s) URL", isFilled),
  /** As `locale` of {@link PagesOptions}. @default the language that each reader prefers */
  locale: rules.text("a BCP 47 language tag, such as de or en-US", isFilled),
  /** As `messages` of {@link PagesOptions}. @default none */
  messages: rules.named(rules.named(rules.text("a text"))),
};

/** What the pages say of you, and in which language. */
export interface ServerPagesConfig extends rules.Options<typeof PAGES_RULES> {}

const METRICS_RULES = {
  /** TCP port, 0 to 65535. 0 picks a free port, which the log names. */
  port: rules.required(rules.whole(0, 65_535)),
  /** Address or host name to listen on. @default "127.0.0.1" */
  host: hostRule,
};

/** The listener for metrics, with its own port, so that metrics are never exposed with the pictures. */
export interface ServerMetricsConfig extends rules.Options<typeof METRICS_RULES> {}

/** Rules for every key of a configuration. */
export const CONFIG_RULES = {
  /** TCP port, 0 to 65535; 0 picks a free port. @default 3000 */
  port: rules.preset(3000, rules.whole(0, 65_535)),
  /** Address or host name to listen on. @default "127.0.0.1" */
  host: hostRule,
  /**
   * Directory of the images, created if missing. Short for `storage` of `file:<data>`; set only one of the two.
   * @default "./data"
   */
  data: rules.text("a path", isFilled),
  /**
   * One URL for all roles, or a URL for each: `file:./data`, `memory:`, `redis://…`, `rediss://…`,
   * `redis+sentinel://…`, `postgres://…` (records only) or `s3://bucket/prefix`. docs/storage.md lists their
   * parameters.
   * @default `data`
   */
  storage: rules.either(
    `a URL, or an object with a URL for each of ${ROLES.join(", ")}`,
    STORAGE_RULES,
    storageUrl,
  ),
  /** Rejects empty storage, such as a volume that is not mounted. Turn it on after the first start. @default false */
  existing: rules.preset(false, rules.flag()),
  ...rules.pick(IMAGES_RULES, ["publicUrl", "tls"]),
  /**
   * Proxies whose forwarding headers are trusted for the client's address, protocol and host, as `trust proxy` of
   * Express: their number, or their addresses (`"loopback"`, `"10.0.0.0/8"`, a list).
   * @default false
   */
  trustProxy: rules.preset(
    false,
    rules.value<boolean | number | string | string[]>(
      "false, a number of proxies, or their addresses",
      isTrustProxy,
    ),
  ),
  /**
   * At least 32 bytes from which PINs and the lookup's keys are derived. In a list, the first signs, all verify.
   * @default created at the first start beside the records (mode 0600); required with records in Redis, PostgreSQL or
   * S3
   */
  secret: secrets,
  /** The image service. @default the defaults of {@link ServerImagesConfig} */
  images: rules.preset({}, imagesConfig),
  /** What every page says of you, and in which language. @default nothing, in the language of the reader */
  pages: rules.preset({}, rules.nested(PAGES_RULES)),
  /** The email lookup. @default false */
  lookup: rules.preset(false, rules.orFalse(rules.nested(LOOKUP_CONFIG_RULES))),
  /** Limits of the renderer. @default the defaults of {@link RendererOptions} */
  renderer: imaging === null ? rules.any<RendererOptions>() : rules.nested(imaging.RENDERER_RULES),
  /**
   * How long an idle connection stays open; milliseconds, 0 to 3600000. Set it longer than the idle time-out of the
   * proxy in front.
   * @default 75000
   */
  keepAliveMs: rules.preset(75_000, rules.time(0, 3_600_000)),
  /** The log on standard error. @default the defaults of {@link ServerLogConfig} */
  log: rules.preset({}, rules.nested(LOG_RULES)),
  /** Metrics for Prometheus at `GET /metrics`. @default false */
  metrics: rules.preset(false, rules.orFalse(rules.nested(METRICS_RULES))),
  /** Longest time from the signal to the exit; milliseconds, 100 to 600000. @default 10000 */
  shutdownMs: rules.preset(10_000, rules.time(100, 600_000)),
  /**
   * How long the server still accepts connections after `/readyz` turns 503; milliseconds, from 0, less than `shutdownMs`.
   * @default 0
   */
  drainDelayMs: rules.preset(0, rules.time(0, 599_999)),
};

/** The configuration of the server: the content of `outrigger.config.json` or `.mjs`. Unknown keys are rejected. */
export interface ServerConfig extends rules.Options<typeof CONFIG_RULES> {}

/** A text that `parse` accepts. @param parse Throws a TypeError whose message starts with `must` and quotes no part of the text. */
function parsed(what: string, parse: (text: string) => unknown) {
  return rules.refined(
    rules.secretText(what, () => true),
    (text: string): rules.OptionProblem[] => {
      try {
        parse(text);
        return [];
      } catch (error) {
        if (!(error instanceof TypeError)) throw error;
        return [{ path: "", text: error.message }];
      }
    },
  );
}

function isFilled(text: string): boolean {
  return text.trim() !== "";
}

function areTexts(given: unknown): boolean {
  const list: unknown[] = Array.isArray(given) ? given : [given];
  return list.length > 0 && list.every((each) => typeof each === "string");
}

function isTrustProxy(given: unknown): boolean {
  if (typeof given === "number") return Number.isInteger(given) && given >= 0;
  if (!areTexts(given)) return typeof given === "boolean";
  try {
    // Express compiles the addresses here, and throws for an invalid one.
    requireIfInstalled<() => Application>("express")?.().set("trust proxy", given);
    return true;
  } catch {
    return false;
  }
}
