import http, { type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import https from "node:https";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { TLSSocket } from "node:tls";
import { readOwnPackage } from "../../../cli/own-package.ts";

const SILENCE_MS = 30_000;
const MAX_REPLY_BYTES = 64 * 1024 * 1024;
const DAY_MS = 86_400_000;
const LIFETIME_MS = 15 * 60_000;
const MAX_WAIT_SECONDS = 65;
const MAX_WAITS = 2;
const MAX_READY_MS = 60_000;

/** First product of the User-Agent of these checks. */
export const DOCTOR_NAME = "outrigger-doctor";

/** The complete reply to a request. */
export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** Times at which the request began and the headers of the reply arrived, by this machine's clock. Unix milliseconds. */
  sentMs: number;
  arrivedMs: number;
  /** Whether this machine sent the reply. */
  isLoopback: boolean;
  /** Days until the certificate ends; `null` without TLS. */
  certificateDays: number | null;
  /** e.g. `TLSv1.3`; `null` without TLS. */
  tlsVersion: string | null;
}

/** Options of a request. */
export interface Ask {
  /** @default "GET" */
  method?: string;
  headers?: Readonly<Record<string, string>>;
  body?: Buffer;
  /** Milliseconds between the halves of the body. @default 0 */
  pauseMs?: number;
  /** Longest time without data from the other side; milliseconds. @default 30000 */
  silenceMs?: number;
}

/** A header as one string; empty if absent. */
export function headerOf({ headers }: Answer, name: string): string {
  return String(headers[name.toLowerCase()] ?? "");
}

/** A member of the JSON body, or of a member of it; `undefined` if it has none of that name. */
export function memberOf({ body }: Answer, ...names: string[]): unknown {
  try {
    const parsed: unknown = JSON.parse(body.toString("utf8"));
    return names.reduce<unknown>((value, name) => Reflect.get(Object(value), name), parsed);
  } catch {
    // The body is not JSON.
    return undefined;
  }
}

/**
 * Sends one request on a new connection and reads its complete reply. Follows no redirects, decodes no content. Rejects with
 * Node's error if there is no reply. Accepts a reply that arrives before the request is complete.
 */
export async function exchange(url: URL, ask: Ask = {}): Promise<Answer> {
  const { method = "GET", headers = {}, body, pauseMs = 0, silenceMs = SILENCE_MS } = ask;
  const sentMs = Date.now();
  const { request } = url.protocol === "https:" ? https : http;
  const outgoing = request(url, { method, headers, agent: false, timeout: silenceMs });
  outgoing.on("timeout", () => {
    outgoing.destroy(Object.assign(new Error("no data arrived"), { code: "ETIMEDOUT" }));
  });
  if (body === undefined) outgoing.end();
  else Readable.from(inHalves(body, pauseMs)).pipe(outgoing);
  const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
    // After a reply, a server may close a connection that is still sending: that error changes nothing.
    outgoing.once("response", resolve).on("error", reject);
  });
  const { socket } = incoming;
  const tls = socket instanceof TLSSocket ? socket : null;
  const endMs = Date.parse(tls?.getPeerCertificate().valid_to ?? "");
  return {
    status: incoming.statusCode ?? 0,
    headers: incoming.headers,
    sentMs,
    arrivedMs: Date.now(),
    isLoopback: /^(?:::1$|(?:::ffff:)?127\.)/.test(socket.remoteAddress ?? ""),
    certificateDays: Number.isNaN(endMs) ? null : Math.floor((endMs - sentMs) / DAY_MS),
    tlsVersion: tls?.getProtocol() ?? null,
    body: await readBody(incoming),
  };
}

async function readBody(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming) {
    size += chunk.length;
    if (size > MAX_REPLY_BYTES) throw new Error(`the reply is longer than ${MAX_REPLY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function* inHalves(body: Buffer, pauseMs: number): AsyncGenerator<Buffer> {
  const half = Math.floor(body.length / 2);
  yield body.subarray(0, half);
  if (pauseMs > 0) await sleep(pauseMs);
  yield body.subarray(half);
}

/** An image created by a check, with the reply to its create. */
export interface UploadedImage {
  id: string;
  pin: string;
  answer: Answer;
}

export interface VisitOptions {
  /** Absolute URL of the mount point, without a trailing slash. */
  base: string;
  /** Sent with every request, e.g. credentials for the host app. */
  headers: Readonly<Record<string, string>>;
  /** How long a slow upload pauses; milliseconds. @default 7000 */
  patienceMs?: number;
}

/** Access to a mount for the checks, and the images that they created. */
export class MountVisit {
  /** Absolute URL of the mount point. After a redirect it is the target. */
  base: string;
  /** Milliseconds by which the mount's clock is ahead of this machine's; 0 if unknown. */
  clockAheadMs = 0;
  readonly patienceMs: number;
  readonly #asked: URL;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #uploaded = new Map<string, UploadedImage>();

  constructor({ base, headers, patienceMs = 7000 }: VisitOptions) {
    this.base = base;
    this.patienceMs = patienceMs;
    this.#asked = new URL(base);
    this.#headers = headers;
  }

  /** Sends a request to an address below the mount point. After 429 with Retry-After, waits and retries. */
  async send(path: string, ask: Ask = {}): Promise<Answer> {
    const url = new URL(this.base + path);
    const { protocol, hostname } = this.#asked;
    // A redirect may lead to another host, which must not receive the credentials.
    const isOwn = url.hostname === hostname && (url.protocol === "https:" || protocol === "http:");
    const always = { "User-Agent": `${DOCTOR_NAME}/${readOwnPackage().version}`, Accept: "*/*" };
    const headers = { ...always, ...(isOwn ? this.#headers : {}), ...ask.headers };
    for (let waits = 0; ; waits++) {
      const answer = await exchange(url, { ...ask, headers });
      const seconds = Number(headerOf(answer, "Retry-After") || Number.NaN);
      if (answer.status !== 429 || !(seconds <= MAX_WAIT_SECONDS) || waits === MAX_WAITS) return answer;
      await sleep(seconds * 1000);
    }
  }

  /** Uploads a file and waits until it is processed. @param expires Whether to set an early expiry. @returns The reply, and the image if one was created. */
  async upload(
    file: Blob,
    ask: Ask = {},
    expires = true,
  ): Promise<{ answer: Answer; image?: UploadedImage }> {
    const form = new FormData();
    form.set("name", "outrigger doctor");
    if (expires) form.set("expiresAt", String(Date.now() + this.clockAheadMs + LIFETIME_MS));
    form.set("imagedata", file, "doctor");
    const encoded = new Response(form);
    const body = Buffer.from(await encoded.arrayBuffer());
    const type = encoded.headers.get("content-type") ?? "";
    const headers = { "Content-Type": type, "Content-Length": String(body.length), ...ask.headers };
    const answer = await this.send("/api/images.json", { ...ask, method: "POST", headers, body });
    const [id, pin] = [memberOf(answer, "id"), memberOf(answer, "pin")];
    let { status } = answer;
    if ((status !== 201 && status !== 202) || typeof id !== "string" || typeof pin !== "string")
      return { answer };
    const image = { id, pin, answer };
    this.#uploaded.set(id, image);
    const deadline = Date.now() + MAX_READY_MS;
    while (status === 202 && Date.now() < deadline) {
      await sleep(1000);
      ({ status } = await this.send(pathOf(image, "json")));
    }
    return { answer, image };
  }

  /** Sends DELETE for an image. */
  async remove(image: UploadedImage): Promise<Answer> {
    const headers = { "X-Service-Image-Pin": image.pin };
    const answer = await this.send(pathOf(image, "json"), { method: "DELETE", headers });
    if ([204, 404, 410].includes(answer.status)) this.#uploaded.delete(image.id);
    return answer;
  }

  /** Deletes the uploaded images. @returns The ids of images that could not be deleted. */
  async leave(): Promise<string[]> {
    // The returned ids report failures.
    for (const image of [...this.#uploaded.values()]) await this.remove(image).catch(() => undefined);
    return [...this.#uploaded.keys()];
  }
}

/** An address of an image below the mount point. */
export function pathOf({ id }: Pick<UploadedImage, "id">, suffix: string): string {
  return `/api/images/${id}.${suffix}`;
}
