import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createFsBlobStore,
  createImages,
  createLookup,
  createMemoryAccounts,
  createMemoryBlobStore,
  createMemoryContactSource,
  createMemorySuppressionList,
} from "@outrigger/core";
import { IMAGES_RULES } from "@outrigger/core/images";
import { LOOKUP_RULES } from "@outrigger/core/lookup";
import type { rules } from "@outrigger/core/stores";
import { createRenderer, RENDERER_RULES } from "@outrigger/imaging";
import { createHeaderRenderer } from "@outrigger/testing";
import { createMailProber } from "@outrigger/verifier";
import { PROBER_RULES } from "@outrigger/verifier/options";
import { afterAll, expect, test } from "vitest";
import { checkConfig } from "./check-config.ts";
import { IMAGE_KEYS, LOOKUP_KEYS, PROBER_KEYS } from "./config-rules.ts";

type Options = Readonly<Record<string, unknown>>;
/** Calls a factory with options that TypeScript would reject, and closes the result. */
type Make = (options: Options) => Promise<void>;

const secret = "0123456789abcdef0123456789abcdef";
const renderer = createHeaderRenderer();

const directory = mkdtempSync(join(tmpdir(), "outrigger-rules-"));
afterAll(() => rm(directory, { recursive: true, force: true }));

const makeImages: Make = async (options) => {
  const memory = createMemoryBlobStore();
  // Where `sendfile` needs them.
  const originals = createFsBlobStore({ directory });
  const storage = { records: memory, originals, renditions: memory };
  await createImages({ storage, renderer, secret, ...options } as never).close();
};
const makeLookup: Make = async (options) => {
  const contacts = createMemoryContactSource();
  const stores = { contacts, accounts: createMemoryAccounts(), suppressions: createMemorySuppressionList() };
  await createLookup({ ...stores, secret, ...options } as never).close();
};
const makeProber: Make = (options) => createMailProber(options as never).close();
const makeRenderer: Make = (options) => createRenderer(options as never).close();

/** Each option that the server passes to a factory, with its place in a configuration. */
const shared: { name: string; rule: rules.OptionRule; make: Make; place: (options: Options) => Options }[] = [
  ...IMAGE_KEYS.map((name) => ({ name, rule: IMAGES_RULES[name], make: makeImages, place: below("images") })),
  ...LOOKUP_KEYS.map((name) => ({
    name,
    rule: LOOKUP_RULES[name],
    make: makeLookup,
    place: below("lookup"),
  })),
  ...PROBER_KEYS.map((name) => ({
    name,
    rule: PROBER_RULES[name],
    make: makeProber,
    place: below("lookup"),
  })),
  ...Object.entries(RENDERER_RULES).map(([name, rule]) => ({
    ...{ name, rule, make: makeRenderer },
    place: below("renderer"),
  })),
  ...(["publicUrl", "tls"] as const).map((name) => ({
    ...{ name, rule: IMAGES_RULES[name], make: makeImages },
    place: (options: Options) => options,
  })),
];

/** Values for options whose rules are more than ranges. */
const MORE: Options = {
  allowedHosts: [["example.com"], [""], ["example.com", 7]],
  node: [process.execPath, ""],
  importUrls: [
    true,
    { internalHosts: ["a.intranet", "10.0.0.1:8080", "[fd00::1]"] },
    { internalHosts: ["https://a.intranet"] },
    { port: 80 },
  ],
  onPurge: [() => {}, "purge"],
  reports: [true, {}, { hours: 1 }, { hours: 0 }, { hours: 721 }, { days: 2 }],
  resumable: [
    { directory: join(directory, "pieces") },
    { directory: "" },
    { s3: { bucket: "pieces" } },
    { s3: { region: "eu" } },
    { bucket: "pieces" },
  ],
  sizes: [{ steps: [1, 8192] }, { steps: [8193] }, { steps: [] }, { step: [64] }],
  presets: [
    {},
    { "thumb-1": { resize: "256x" } },
    { Thumb: { page: 1 } },
    { thumb: {} },
    { thumb: { page: 999_999_999, convert: "low" } },
    { thumb: { resize: "8193x1" } },
    { thumb: { size: 1 } },
    { thumb: { rotate: 90 } },
    { thumb: { rotate: 45 } },
    { thumb: { blur: 5 } },
    { thumb: { watermark: { image: Buffer.from("<svg/>"), at: "center", width: 1, opacity: 1, margin: 0 } } },
    { thumb: { watermark: { image: Buffer.from("GIF89a") } } },
    { thumb: { watermark: { at: "center" } } },
  ],
  sendfile: [
    { header: "X-Sendfile" },
    { header: "X-Sendfile", prefix: "/files/" },
    { header: "X-Accel-Redirect" },
    { header: "X-Accel-Redirect", prefix: "/files/" },
    { header: "X-Accel-Redirect", prefix: "/../" },
    { header: "Location", prefix: "/files/" },
  ],
  cors: [
    { origins: "*" },
    { origins: "*", credentials: true },
    { origins: ["https://a.example", "null"], credentials: true },
    { origins: ["https://a.example/"] },
    { origins: ["https://user@a.example"] },
    { origins: [7] },
  ],
  plans: [
    { gold: { searches: 0, verifications: false } },
    { gold: { searches: -1, verifications: 1 } },
    { gold: { searches: 1 } },
  ],
  networkNames: [
    { a: "linked", b: "short" },
    { a: "same", b: "same" },
    { a: "A", b: "b" },
  ],
  smtp: [
    { helo: "mail.example.com", mailFrom: "probe@example.com" },
    { helo: "mail.example.com", mailFrom: "" },
    { helo: "localhost", mailFrom: "" },
    { helo: "mail.example.com", mailFrom: "me" },
  ],
  dnsServers: [["192.0.2.53", "[2001:db8::53]:53"], ["dns.example.com"], "192.0.2.53"],
  publicUrl: ["https://example.com/img", "https://user:password@example.com", "/img", "ftp://example.com"],
};

test.each(shared)(
  "a configuration accepts exactly the values of $name that its factory accepts",
  async ({ name, rule, make, place }) => {
    const more = MORE[name] as readonly unknown[] | undefined;
    const taken: boolean[] = [];
    for (const value of [...edgesOf(rule), ...(more ?? [])]) {
      const byFactory = await takes(() => make({ [name]: value }));
      const byServer = await takes(async () => checkConfig(place({ [name]: value }), "test"));
      expect(byServer, JSON.stringify(value)).toBe(byFactory);
      taken.push(byFactory);
    }
    expect(new Set(taken), "some values are accepted, others rejected").toEqual(new Set([true, false]));
  },
);

function below(key: string): (options: Options) => Options {
  return (options) => ({ [key]: options });
}

/** Values at the bounds of a rule, and of other types. */
function edgesOf(rule: rules.OptionRule): unknown[] {
  const others = [null, "x", 0.5, [], { x: 1 }];
  switch (rule.kind) {
    case "whole":
      return [rule.min - 1, rule.min, rule.max, rule.max + 1, true, ...others];
    case "flag":
      return [true, false, 0, ...others];
    case "oneOf":
      return [...rule.values, ...others];
    case "or":
      return [rule.off, true, ...edgesOf(rule.rule)];
    case "nested":
      return [
        {},
        ...Object.entries(rule.table).flatMap(([name, each]) =>
          edgesOf(each).map((edge) => ({ [name]: edge })),
        ),
        ...others,
      ];
    default:
      return others;
  }
}

async function takes(call: () => Promise<unknown>): Promise<boolean> {
  try {
    await call();
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError);
    return false;
  }
}
