import { IMAGES_RULES } from "@outrigger/core/images";
import { LOOKUP_RULES } from "@outrigger/core/lookup";
import {
  type OptionProblem,
  parseStorageUrl,
  ROLES,
  type RuleTable,
  rules,
  secretBytes,
} from "@outrigger/core/stores";
import { ifInstalled } from "../cli/parts.ts";
import {
  IMAGE_KEYS,
  LOOKUP_KEYS,
  PROBER_KEYS,
  type ServerConfig,
  type ServerHttpConfig,
  type ServerImagesConfig,
  type ServerLogConfig,
  type ServerLookupConfig,
  type ServerMetricsConfig,
  type ServerStorageConfig,
} from "./server-config.ts";
import { DATABASE_URL, parseDatabaseUrl } from "./targets/database-target.ts";

// A part that is not installed does not check its keys: nothing uses them.
const [imaging, verifier, express] = await Promise.all([
  ifInstalled("@outrigger/imaging", () => import("@outrigger/imaging")),
  ifInstalled("@outrigger/verifier", () => import("@outrigger/verifier/options")),
  ifInstalled("express", () => import("express")),
]);

const MIN_SECRET_BYTES = 32;
const SECRETS = `a text of at least ${MIN_SECRET_BYTES} bytes, or a list of such texts`;

const host = rules.preset("127.0.0.1", rules.text("an address or a name", isFilled));
const secrets = rules.refined(rules.value(SECRETS, areTexts, true), (given: string | string[]) =>
  [given].flat().flatMap((text, index): OptionProblem[] => {
    if ((secretBytes(text)?.length ?? 0) >= MIN_SECRET_BYTES) return [];
    return typeof given === "string"
      ? [{ path: "", text: `must be ${SECRETS}` }]
      : [{ path: `.${index}`, text: `must have at least ${MIN_SECRET_BYTES} bytes` }];
  }),
);
const storageUrl = parsed("a URL", parseStorageUrl);

const STORAGE_RULES = {
  records: rules.required(storageUrl),
  originals: rules.required(storageUrl),
  renditions: rules.required(storageUrl),
} satisfies RuleTable<ServerStorageConfig>;

const IMAGES_CONFIG_RULES = pick(IMAGES_RULES, IMAGE_KEYS) satisfies RuleTable<ServerImagesConfig>;

const LOOKUP_CONFIG_RULES = {
  database: parsed(DATABASE_URL, parseDatabaseUrl),
  secret: secrets,
  ...pick(LOOKUP_RULES, LOOKUP_KEYS),
  ...(verifier === null
    ? { smtp: rules.any(), dnsServers: rules.any() }
    : pick(verifier.PROBER_RULES, PROBER_KEYS)),
} satisfies RuleTable<ServerLookupConfig>;

const HTTP_RULES = {
  headersTimeoutMs: rules.preset(15_000, rules.whole(100, 600_000)),
  requestTimeoutMs: rules.whole(1000, 86_400_000),
  keepAliveMs: rules.preset(75_000, rules.whole(0, 3_600_000)),
  idleMs: rules.preset(120_000, rules.whole(1000, 3_600_000)),
  maxConnections: rules.preset(4096, rules.whole(1, 1_000_000)),
} satisfies RuleTable<ServerHttpConfig>;

const LOG_RULES = {
  level: rules.preset("info", rules.oneOf("fatal", "error", "warn", "info", "debug", "trace", "silent")),
  pretty: rules.preset(false, rules.flag()),
} satisfies RuleTable<ServerLogConfig>;

const METRICS_RULES = {
  port: rules.required(rules.whole(0, 65_535)),
  host,
} satisfies RuleTable<ServerMetricsConfig>;

/** Rules for every key of a configuration. */
export const CONFIG_RULES = {
  port: rules.preset(3000, rules.whole(0, 65_535)),
  host,
  data: rules.text("a path", isFilled),
  storage: rules.either(
    `a URL, or an object with a URL for each of ${ROLES.join(", ")}`,
    rules.nested(STORAGE_RULES),
    storageUrl,
  ),
  existing: rules.preset(false, rules.flag()),
  publicUrl: IMAGES_RULES.publicUrl,
  trustProxy: rules.preset(
    false,
    rules.value("false, a number of proxies, or their addresses", isTrustProxy),
  ),
  tls: IMAGES_RULES.tls,
  secret: secrets,
  images: rules.nested(IMAGES_CONFIG_RULES),
  lookup: rules.preset(false, rules.orFalse(rules.nested(LOOKUP_CONFIG_RULES))),
  renderer: imaging === null ? rules.any() : rules.nested(imaging.RENDERER_RULES),
  http: rules.preset({}, rules.nested(HTTP_RULES)),
  log: rules.preset({}, rules.nested(LOG_RULES)),
  metrics: rules.preset(false, rules.orFalse(rules.nested(METRICS_RULES))),
  tracing: rules.preset(false, rules.flag()),
  shutdownMs: rules.preset(10_000, rules.whole(100, 600_000)),
  drainDelayMs: rules.preset(0, rules.whole(0, 599_999)),
} satisfies RuleTable<ServerConfig>;

/** A text that `parse` accepts. @param parse Throws a TypeError whose message starts with `must` and quotes no part of the text. */
function parsed(what: string, parse: (text: string) => unknown) {
  return rules.refined(
    rules.secretText(what, () => true),
    (text: string): OptionProblem[] => {
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

function pick<T extends object, K extends keyof T>(table: T, keys: readonly K[]): Pick<T, K> {
  return Object.fromEntries(keys.map((key) => [key, table[key]])) as Pick<T, K>; // These keys and no others.
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
  if (typeof given !== "boolean" && !areTexts(given)) return false;
  try {
    express?.default().set("trust proxy", given);
    return true;
  } catch {
    // Express compiles the addresses here, and throws for an invalid one.
    return false;
  }
}
