import { createHash, createHmac } from "node:crypto";
import { optionProblems } from "../check-options.ts";
import * as rules from "../option-rules.ts";
import { parsedUrl } from "../parsed-url.ts";
import { requestRemote } from "./remote/open-remote.ts";
import { checkRemoteUrl, isHostEntry, type RemoteAddress } from "./remote/remote-policy.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Time limit of one delivery, in milliseconds. */
export const DELIVERY_MS = 10_000;
/** Time after which an event that was not delivered is given up. */
export const UNDELIVERED_MS = 7 * 24 * HOUR_MS;
/** Delays between attempts. The last one repeats. */
const BACK_OFF_MS = [5_000, 30_000, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 12 * HOUR_MS];

/** Delay after this many failed attempts, from 1. */
export function backOffMs(tries: number): number {
  return BACK_OFF_MS[Math.min(tries, BACK_OFF_MS.length) - 1] ?? 0;
}

const ENDPOINT_RULES = {
  /** Where events are sent: an absolute https URL. Hosts of `internalHosts` may have http. */
  url: rules.required(rules.text("an absolute https URL")),
  /** Signs the events: `whsec_` and 24 to 64 random bytes in base64. */
  secret: rules.required(
    rules.secretText("whsec_ and 24 to 64 bytes in base64", (text) => keyOfSecret(text) !== null),
  ),
  /** Types of events that are sent. @default all */
  types: rules.texts("a list of at least one type", (type) => type !== "", 1),
};

/** A receiver of events, by Standard Webhooks. */
export interface WebhookEndpoint extends rules.Options<typeof ENDPOINT_RULES> {}

export const WEBHOOKS_RULES = {
  /** Receivers, each with a URL of its own. */
  endpoints: rules.required(
    rules.refined(
      rules.value<readonly WebhookEndpoint[]>("a list of { url, secret, types }", areObjects, true),
      (given) =>
        given.flatMap((endpoint, index) =>
          optionProblems(endpoint, ENDPOINT_RULES).map(({ path, text }) => ({
            path: `.${index}.${path}`,
            text,
          })),
        ),
    ),
  ),
  /** Hosts of your own network that may receive events: `name`, or `name:port`. @default none */
  internalHosts: rules.preset(
    [],
    rules.texts("a list of hosts, such as hooks.example or hooks.example:8080", isHostEntry),
  ),
};

function areObjects(given: unknown): boolean {
  return Array.isArray(given) && given.every((each) => typeof each === "object" && each !== null);
}

/** Where events are sent. */
export interface WebhooksOptions extends rules.Options<typeof WEBHOOKS_RULES> {}

/** Finds the faults of an option `webhooks`. @param known All types of events. */
export function webhookFaults(known: readonly string[]) {
  return ({ endpoints, internalHosts = [] }: WebhooksOptions): rules.OptionProblem[] => {
    const urls = endpoints.map(({ url }) => url);
    return endpoints.flatMap(({ url, types = [] }, index) => {
      const address = addressOf(url, internalHosts);
      const faults = [
        ["url", typeof address === "string" && address],
        ["url", urls.indexOf(url) < index && "differ from those before"],
        ["types", types.some((type) => !known.includes(type)) && `be of ${known.join(", ")}`],
      ] as const;
      return faults.flatMap(([name, fault]) =>
        fault === false ? [] : [{ path: `.endpoints.${index}.${name}`, text: `must ${fault}` }],
      );
    });
  };
}

/** @returns the text after "must" if events cannot be sent there. */
function addressOf(text: string, internalHosts: readonly string[]): RemoteAddress | string {
  const port = Number(parsedUrl(text)?.port);
  // The host chose the port itself: only the address needs a check.
  const policy = { ports: [80, 443, port], internalHosts };
  const address = checkRemoteUrl(text, policy);
  if (typeof address === "string" || address.isInternal || address.url.protocol === "https:") return address;
  return "be an https URL, unless its host is one of internalHosts";
}

/** An event as it is sent. */
export interface WebhookMessage {
  /** Unique; the same in each attempt. */
  id: string;
  type: string;
  /** When it happened, in Unix milliseconds. */
  at: number;
  /** JSON. */
  data: object;
}

/** The receiver answered 410: it wants no more attempts. */
export class ReceiverGone extends Error {}

/** A receiver to which this process sends. */
export interface Webhook {
  /** Derived from the URL: known to all processes, and without its secrets. */
  name: string;
  /** For the log. */
  host: string;
  takes(type: string): boolean;
  /** Rejects unless the receiver answers 2xx before `signal` aborts. Follows no redirect and reads no body. */
  send(message: WebhookMessage, signal: AbortSignal): Promise<void>;
}

/** The receivers of checked options. @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */
export function createWebhooks(options: rules.Checked<typeof WEBHOOKS_RULES> | undefined): Webhook[] {
  const { endpoints = [], internalHosts = [] } = options ?? {};
  return endpoints.map(({ url, secret, types }) => {
    const address = addressOf(url, internalHosts);
    const key = keyOfSecret(secret);
    if (typeof address === "string" || key === null)
      throw new TypeError("webhooks: options were not checked");
    return {
      name: `webhook-${createHash("sha256").update(url).digest("hex").slice(0, 12)}`,
      host: address.url.host,
      takes: (type) => types?.includes(type) ?? true,
      send: (message, signal) => send(address, key, message, signal),
    };
  });
}

async function send(
  address: RemoteAddress,
  key: Buffer,
  { id, type, at, data }: WebhookMessage,
  signal: AbortSignal,
): Promise<void> {
  const post = JSON.stringify({ type, timestamp: new Date(at).toISOString(), data });
  // Of the attempt: receivers refuse old ones.
  const timestamp = Math.floor(Date.now() / 1000);
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${post}`).digest("base64");
  const response = await requestRemote(address, {
    post,
    idleMs: DELIVERY_MS,
    signal,
    headers: {
      "Content-Type": "application/json",
      "Content-Length": String(Buffer.byteLength(post)),
      "User-Agent": "outrigger-webhooks",
      "webhook-id": id,
      "webhook-timestamp": String(timestamp),
      "webhook-signature": `v1,${signature}`,
    },
  });
  response.destroy();
  const { statusCode = 0 } = response;
  if (statusCode === 410) throw new ReceiverGone("the receiver answered 410");
  if (statusCode < 200 || statusCode > 299) throw new Error(`the receiver answered ${statusCode}`);
}

/** The bytes of a secret; `null` for a text of another form. */
function keyOfSecret(text: string): Buffer | null {
  const [, base64 = ""] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? [];
  const key = Buffer.from(base64, "base64");
  return key.length >= 24 && key.length <= 64 ? key : null;
}
