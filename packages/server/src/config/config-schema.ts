import expressApp from "express";
import { z } from "zod";
import { ConfigError } from "./config-error.ts";
import { flag, limit, oneOf, rule, secrets, section, text, whole } from "./config-rules.ts";
import { lookup } from "./lookup-schema.ts";
import type { ServerConfig, ServerStorageConfig } from "./server-config.ts";
import { redisUrlProblem, storageProblems } from "./storage-config.ts";

/** A thousand years. */
const MAX_LIFETIME_MS = 1000 * 365 * 86_400_000;

const patience = z.union([z.literal(false), whole(0, 60_000)], {
  error: "must be false or a whole number from 0 to 60000",
});

const sweepInterval = z.union([z.literal(false), whole(1000, 86_400_000)], {
  error: "must be false or a whole number from 1000 to 86400000",
});

const renditionBytes = z.union([z.literal(false), whole(2 ** 20)], {
  error: "must be false or a whole number from 1048576",
});

const idleDays = z.union([z.literal(false), whole(1, 3650)], {
  error: "must be false or a whole number from 1 to 3650",
});

const origin = rule(
  z.string(),
  "must be an origin as browsers send it, e.g. https://app.example.com",
  isOrigin,
);

const cors = section({
  origins: z.union([z.literal("*"), z.array(origin)], { error: 'must be "*" or a list of origins' }),
  credentials: flag.exactOptional(),
}).refine(({ origins, credentials }) => origins !== "*" || credentials !== true, {
  error: 'must be false where origins is "*"',
  path: ["credentials"],
});

const SIZE = /^(?:0*[1-9]\d{0,3}x(?:0*[1-9]\d{0,3})?|x0*[1-9]\d{0,3})$/;

const PRESET_NAME = /^[a-z0-9-]{1,32}$/;

const preset = section({
  resize: rule(
    z.string(),
    "must be <MaxWidth>x<MaxHeight>, <MaxWidth>x or x<MaxHeight> with sides of 1 to 8192 pixels",
    isBox,
  ).exactOptional(),
  convert: oneOf(["low", "medium", "high", "max"]).exactOptional(),
  page: whole(1, 999_999_999).exactOptional(),
}).refine((given) => Object.keys(given).length > 0, {
  error: "must have at least one of resize, convert, page",
});

const presets = z.record(z.string(), preset, { error: "must be an object" }).superRefine((given, context) => {
  for (const name of Object.keys(given)) {
    if (PRESET_NAME.test(name)) continue;
    const message = "must be named by 1 to 32 of a-z, 0-9 and -";
    context.addIssue({ code: "custom", path: [name], message });
  }
});

const sizes = z.union(
  [
    z.enum(["any", "steps", "signed"]),
    section({
      steps: z
        .array(whole(1, 8192), { error: "must be a list of longer sides" })
        .min(1, { error: "must name at least one step" })
        .max(64, { error: "must name at most 64 steps" }),
    }),
  ],
  { error: "must be one of any, steps, signed, or { steps } with a list of longer sides" },
);

const images = section({
  allowedHosts: z
    .array(text("must be a host, e.g. example.com:8443"), { error: "must be a list of hosts" })
    .min(1, { error: "must name at least one host" })
    .exactOptional(),
  maxUploadBytes: whole(1, 2 ** 31).exactOptional(),
  uploadIdleMs: whole(100).exactOptional(),
  minUploadBytesPerSecond: whole(0).exactOptional(),
  asyncAfterMs: patience.exactOptional(),
  processUploads: flag.exactOptional(),
  keepMetadata: flag.exactOptional(),
  defaultLifetimeMs: whole(1, MAX_LIFETIME_MS).exactOptional(),
  maxLifetimeMs: whole(1, MAX_LIFETIME_MS).exactOptional(),
  tombstoneDays: whole(0, 3650).exactOptional(),
  sweepEveryMs: sweepInterval.exactOptional(),
  sizes: sizes.exactOptional(),
  presets: presets.exactOptional(),
  cacheSeconds: whole(0).exactOptional(),
  memoryBytes: whole(0).exactOptional(),
  maxRenditionBytes: renditionBytes.exactOptional(),
  renditionsIdleDays: idleDays.exactOptional(),
  rateLimits: z
    .union(
      [
        z.literal(false),
        section({
          creates: limit.exactOptional(),
          reads: limit.exactOptional(),
          edits: limit.exactOptional(),
          pinFailures: limit.exactOptional(),
        }),
      ],
      { error: "must be false or an object" },
    )
    .exactOptional(),
  renderBudget: z
    .union([z.literal(false), whole(1, 3600)], {
      error: "must be false or a whole number from 1 to 3600",
    })
    .exactOptional(),
  cors: cors.exactOptional(),
  ownerLimits: section({ images: whole(0).exactOptional(), bytes: whole(0).exactOptional() }).exactOptional(),
});

const renderer = section({
  maxPixels: whole(1, 1_000_000_000).exactOptional(),
  maxFrames: whole(1, 10_000).exactOptional(),
  maxSide: whole(1, 16_383).exactOptional(),
  maxOutputPixels: whole(1, 268_000_000).exactOptional(),
  maxGifOutputPixels: whole(1, 268_000_000).exactOptional(),
  maxWebpOutputPixels: whole(1, 268_000_000).exactOptional(),
  maxAvifOutputPixels: whole(1, 268_000_000).exactOptional(),
  maxAnimationOutputPixels: whole(1, 268_000_000).exactOptional(),
  timeoutMs: whole(100, 600_000).exactOptional(),
  maxMemoryBytes: whole(128 * 1024 ** 2).exactOptional(),
  maxTotalMemoryBytes: whole(128 * 1024 ** 2).exactOptional(),
  workers: whole(1, 256).exactOptional(),
  maxQueue: whole(0, 100_000).exactOptional(),
  intermediates: flag.exactOptional(),
});

const http = section({
  headersTimeoutMs: whole(100, 600_000).exactOptional(),
  requestTimeoutMs: whole(1000, 86_400_000).exactOptional(),
  keepAliveMs: whole(0, 3_600_000).exactOptional(),
  idleMs: whole(1000, 3_600_000).exactOptional(),
  maxConnections: whole(1, 1_000_000).exactOptional(),
});

const metrics = z.union(
  [
    z.literal(false),
    section({ port: whole(0, 65_535), host: text("must be an address or a name").exactOptional() }),
  ],
  { error: "must be false or an object" },
);

const log = section({
  level: oneOf(["fatal", "error", "warn", "info", "debug", "trace", "silent"]).exactOptional(),
  pretty: flag.exactOptional(),
});

const storage = z.custom<string | ServerStorageConfig>().superRefine((value, context) => {
  for (const { path, message } of storageProblems(value)) context.addIssue({ code: "custom", path, message });
});

const jobQueue = z.custom<string>().superRefine((value, context) => {
  const message = redisUrlProblem(value);
  if (message !== null) context.addIssue({ code: "custom", message });
});

const schema: z.ZodType<ServerConfig> = section({
  port: whole(0, 65_535).exactOptional(),
  host: text("must be an address or a name").exactOptional(),
  data: text("must be a path").exactOptional(),
  storage: storage.exactOptional(),
  existing: flag.exactOptional(),
  jobQueue: jobQueue.exactOptional(),
  publicUrl: rule(
    z.string(),
    "must be an absolute http(s) URL without credentials, query or fragment",
    isMountUrl,
  ).exactOptional(),
  trustProxy: rule(
    z.union([z.boolean(), z.number(), z.string(), z.array(z.string())]),
    "must be false, a number of proxies, or their addresses",
    isTrustProxy,
  ).exactOptional(),
  tls: oneOf(["required", "always", "off"]).exactOptional(),
  secret: secrets.exactOptional(),
  lookup: lookup.exactOptional(),
  images: images.exactOptional(),
  renderer: renderer.exactOptional(),
  http: http.exactOptional(),
  log: log.exactOptional(),
  metrics: metrics.exactOptional(),
  tracing: flag.exactOptional(),
  shutdownMs: whole(100, 600_000).exactOptional(),
  drainDelayMs: whole(0, 599_999).exactOptional(),
});

/**
 * Proves `value` to be a configuration. A key whose value is `undefined` counts as absent.
 * @param source What the value comes from, for the message.
 * @param nameOf How the key at a path is called there. @default its path
 * @throws ConfigError naming every key that is wrong. No value is repeated: it may be a secret.
 */
export function checkConfig(value: unknown, source: string, nameOf = (path: string) => path): ServerConfig {
  const parsed = schema.safeParse(withoutUndefined(value));
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.flatMap((issue) => problemsOf(issue, []));
  throw new ConfigError(
    source,
    problems.map(({ path, message }) => `${nameOf(path) || "the configuration"}: ${message}`),
  );
}

function problemsOf(
  issue: z.core.$ZodIssue,
  parent: readonly PropertyKey[],
): { path: string; message: string }[] {
  const path = [...parent, ...issue.path];
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({ path: [...path, key].map(String).join("."), message: "unknown key" }));
  }
  if (issue.code === "invalid_union") {
    // The alternative that was meant is the one that got further than the first look.
    const meant = issue.errors.find((issues) =>
      issues.every((each) => each.path.length > 0 || isInside(each)),
    );
    if (meant !== undefined) return meant.flatMap((each) => problemsOf(each, path));
  }
  return [{ path: path.map(String).join("."), message: issue.message }];
}

function isInside(issue: z.core.$ZodIssue): boolean {
  return issue.code === "unrecognized_keys";
}

function withoutUndefined(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, each]) => each !== undefined)
      .map(([key, each]) => [key, withoutUndefined(each)]),
  );
}

function isMountUrl(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, username, password, search, hash } = new URL(value);
  return (protocol === "http:" || protocol === "https:") && username + password + search + hash === "";
}

function isBox(value: string): boolean {
  return SIZE.test(value) && value.split("x").every((side) => Number(side) <= 8192);
}

function isOrigin(value: string): boolean {
  if (value === "null") return true;
  return /^https?:/.test(value) && URL.canParse(value) && new URL(value).origin === value;
}

function isTrustProxy(value: boolean | number | string | string[]): boolean {
  if (typeof value === "number") return Number.isInteger(value) && value >= 0;
  try {
    expressApp().set("trust proxy", value);
    return true;
  } catch {
    // Express compiles the addresses here, and throws for one that is none.
    return false;
  }
}
