import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { createMemoryAccounts, createMemoryContactSource, ServiceError } from "@outrigger/core";
import type { MailProber } from "@outrigger/core/lookup";
import { createHeaderRenderer } from "@outrigger/testing";
import { ADA, PEOPLE } from "../lookup/people.ts";
import { bareStore, type Fault, faulty } from "./faults.ts";
import type { Described } from "./operations.ts";
import { isLookup, needsPin } from "./plain-call.ts";
import { type ApiSite, type ApiSiteOptions, type Sent, type Subject, startApi } from "./sites.ts";
import { flatGif, flatPng } from "./tiny-files.ts";

/** The way to provoke one status. */
export interface Scene {
  status: number;
  /** Restricts the operations for which this works. @default all that describe the status */
  when?: (described: Described) => boolean;
  /** @default a new image */
  subject?: (site: ApiSite, described: Described) => Promise<Subject>;
  /** Changes the valid call into the one to send. */
  alter?: (sent: Sent) => Sent;
  /** How often it is sent, changed each time. The last answer counts. @default 1 */
  times?: number;
  /** Called with `true` just before it is sent, and with `false` once it was answered. */
  toggle?: (isOn: boolean) => void;
}

/** Scenes played on one site. */
export interface Stage {
  name: string;
  start(): Promise<ApiSite>;
  scenes: readonly Scene[];
}

type Alter = (sent: Sent) => Sent;
const withHeaders =
  (headers: Record<string, string>): Alter =>
  (sent) => ({ ...sent, headers: { ...sent.headers, ...headers } });
const withQuery =
  (text: string): Alter =>
  (sent) => ({ ...sent, target: `${sent.target}${sent.target.includes("?") ? "&" : "?"}${text}` });
const withCall =
  (call: Sent["call"] & object): Alter =>
  (sent) => ({ ...sent, call });
const withoutQuery =
  (names: RegExp): Alter =>
  (sent) => ({ ...sent, target: sent.target.replace(names, "odd=1") });

const isImage = (described: Described) => !isLookup(described) && described.path !== "/api/openapi.json";
const isUpload = ({ path }: Described) => /^\/api\/images\.(?:json|txt)$/.test(path);
const isEmbedding = ({ path }: Described) => path === "/api/oembed.json";
/** Whether the operation is about one image. */
const isOfImage = (described: Described) => described.path.includes("{id}") || isEmbedding(described);
const isOwned = ({ path }: Described) => path === "/api/owned.json";

const OTHER = Buffer.concat([flatPng(), Buffer.from("denied")]);
const unknown = async (site: ApiSite) => ({ ...(await site.create()), id: "A".repeat(22) });
const processing = (site: ApiSite) => site.create({ Prefer: "respond-async" });
const gif = (site: ApiSite) => site.create({}, flatGif());

async function deleted(site: ApiSite): Promise<Subject> {
  const subject = await site.create();
  await site.making.remove(subject.id);
  return subject;
}

async function withheld(site: ApiSite): Promise<Subject> {
  const subject = await site.create();
  await site.making.withhold(subject.id, { reason: "By law.", authority: "https://court.example/1" });
  return subject;
}

async function denied(site: ApiSite): Promise<Subject> {
  const sha256 = createHash("sha256").update(OTHER).digest("hex");
  await site.images.deny({ sha256, reason: "By law.", isLegal: true });
  return unknown(site);
}

/** A body that cannot be read, as an adapter says so. */
function unread(status: number, code: "timeout" | "too_large" | "unsupported_media"): Scene {
  const fail = () => Promise.reject(new ServiceError(code, "This body is refused"));
  const alter = withCall({ upload: fail, fields: fail, bytes: fail });
  return { status, alter: (sent) => withHeaders({ "Content-Length": "2" })(alter(sent)) };
}

export function stages(): Stage[] {
  return [ordinary(), failing(), forgetful(), blind(), silent(), closed()];
}

const start = (options: ApiSiteOptions) => () => startApi(options);

function ordinary(): Stage {
  let uploads = 0;
  const underOneKey = withHeaders({ "Idempotency-Key": "the-same" });
  return {
    name: "where all is well",
    start: start({ images: { processUploads: false, allowedHosts: ["pictures.example"] } }),
    scenes: [
      ...[200, 201, 204].map((status) => ({ status })),
      { status: 202, when: isUpload, alter: withHeaders({ Prefer: "respond-async" }) },
      { status: 202, when: isOfImage, subject: processing },
      { status: 409, when: (each) => isOfImage(each) && each.method !== "DELETE", subject: processing },
      { status: 206, alter: withHeaders({ Range: "bytes=0-0" }) },
      { status: 304, alter: withHeaders({ "If-None-Match": "*" }) },
      { status: 412, alter: withHeaders({ "If-Match": '"another"' }) },
      { status: 416, alter: withHeaders({ Range: "bytes=99999999-" }) },
      { status: 400, when: isImage, alter: withCall({ origin: "https://other.example" }) },
      { status: 400, when: isLookup, alter: withoutQuery(/\b(?:domain|company|email)=[^&]*/g) },
      { status: 400, when: isLookup, alter: withQuery("odd=%ff") },
      { status: 400, when: ({ path }) => path === "/api/openapi.json", alter: withHeaders({ Host: "a, b" }) },
      { status: 401, alter: withoutQuery(/\bapi_key=[^&]*/) },
      { status: 403, alter: withCall({ secure: false }) },
      { status: 403, when: needsPin, alter: withHeaders({ "X-Service-Image-Pin": "another" }) },
      { status: 404, when: ({ path }) => path.startsWith("/api/"), subject: unknown },
      {
        status: 404,
        when: ({ path }) => path.endsWith("/find"),
        alter: (sent) => ({
          ...sent,
          target: sent.target.replace(/(?<=@|%40|domain=)example\.com/, "b.example"),
        }),
      },
      unread(408, "timeout"),
      unread(413, "too_large"),
      unread(415, "unsupported_media"),
      {
        status: 409,
        when: isUpload,
        times: 2,
        alter: (sent) => withQuery(`name=${++uploads}`)(underOneKey(sent)),
      },
      { status: 410, subject: deleted },
      { status: 451, when: isOfImage, subject: withheld },
      { status: 451, when: isUpload, subject: denied, alter: (sent) => ({ ...sent, file: OTHER }) },
      { status: 501, when: isEmbedding, alter: withQuery("format=xml") },
      {
        status: 451,
        when: isLookup,
        subject: async (site) => {
          await site.made.lookup.suppress(ADA.address);
          return unknown(site);
        },
      },
    ],
  };
}

/** A site whose parts fail while a scene lasts. */
function failing(): Stage {
  const [any, put, owned]: [Fault, Fault, Fault] = [{ error: null }, { error: null }, { error: null }];
  let waitMs = 0;
  let isOver = false;
  const result = async () => ({ allowed: !isOver, remaining: isOver ? 0 : 1, resetMs: 1000 });
  const rateLimiter = { consume: result, peek: result, async refund() {}, async close() {} };
  const during = (status: number, fault: Fault, error: Error, when?: Scene["when"]): Scene => ({
    status,
    ...(when === undefined ? {} : { when }),
    toggle(isOn) {
      fault.error = isOn ? error : null;
    },
  });
  const bug = new Error("a bug");
  const noSpace = new ServiceError("no_space", "The disk is full");
  const lost = new ServiceError("conflict", "Another process was faster");
  const ofOwner = async (site: ApiSite) => {
    await site.making.add(flatGif(), { owner: "anna" });
    return site.create();
  };
  return {
    name: "whose parts fail",
    start: start({
      storeOf(store) {
        const failing = faulty(faulty(faulty(bareStore(store), any), put, ["put"]), owned, [
          "put",
          "get",
          "list",
        ]);
        return { ...failing, put: async (...given) => delay(waitMs).then(() => failing.put(...given)) };
      },
      images: {
        processUploads: false,
        rateLimiter,
        authorize: (_call, action) =>
          /^(?:list|removeAll)$/.test(action) ? { owner: "anna", all: true } : undefined,
      },
      lookup: {
        rateLimiter,
        accounts: faulty(createMemoryAccounts(), any),
        contacts: faulty(createMemoryContactSource({ contacts: PEOPLE }), any),
      },
    }),
    scenes: [
      during(500, any, bug),
      during(507, put, noSpace, ({ method }) => method !== "DELETE"),
      // Deleting needs no room, except to notify the process at work on the image.
      { ...during(507, put, noSpace, ({ method }) => method === "DELETE"), subject: processing },
      during(409, put, lost, (described) => !isUpload(described)),
      {
        status: 429,
        toggle(isOn) {
          isOver = isOn;
        },
      },
      {
        ...{ status: 202, when: isOwned, subject: ofOwner },
        toggle(isOn) {
          waitMs = isOn ? 2100 : 0;
        },
      },
      { status: 200, when: isOwned, subject: ofOwner },
      { ...during(500, owned, bug, isOwned), subject: ofOwner },
      { ...during(507, owned, noSpace, isOwned), subject: ofOwner },
    ],
  };
}

function forgetful(): Stage {
  const scenes = [{ status: 404, when: isOfImage, subject: deleted }];
  return { name: "that forgets what was deleted", start: start({ images: { tombstoneDays: 0 } }), scenes };
}

function blind(): Stage {
  return {
    name: "that can draw nothing else",
    start: start({ images: { renderer: { ...createHeaderRenderer(), canRender: () => false } } }),
    scenes: [
      { status: 501, subject: (site, { path }) => (path.endsWith(".gif") ? site.create() : gif(site)) },
    ],
  };
}

function silent(): Stage {
  const prober: MailProber = {
    probe: (_local, _domain, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new ServiceError("overloaded", "It was given up")));
      }),
    async close() {},
  };
  return {
    name: "that asks servers which say nothing",
    start: start({ lookup: { prober } }),
    scenes: [{ status: 202, when: isLookup, alter: withQuery("max_duration=3") }],
  };
}

function closed(): Stage {
  let subject: Subject = { id: "", pin: "" };
  return {
    name: "that is shut down",
    async start() {
      const site = await startApi();
      subject = await site.create();
      await site.images.close({ timeoutMs: 0 });
      await site.made.lookup.close({ timeoutMs: 0 });
      return site;
    },
    scenes: [{ status: 503, subject: async () => subject }],
  };
}
