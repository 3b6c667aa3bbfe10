import { randomBytes } from "node:crypto";
import { once } from "node:events";
import http, { type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import https from "node:https";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { TLSSocket } from "node:tls";
import { crc32, deflateSync } from "node:zlib";
import { readOwnPackage } from "../../cli/own-package.ts";
import { printable } from "../../cli/print.ts";

const SILENCE_MS = 15_000;
const MAX_REPLY_BYTES = 64 * 1024 * 1024;
const POLL_MS = 250;
const MAX_READY_MS = 60_000;
const DAY_MS = 86_400_000;

/** First product of the User-Agent of the checks. */
export const DOCTOR_NAME = "outrigger-doctor";

/** A complete reply. */
export class Reply {
  readonly arrivedMs = Date.now();
  readonly status: number;
  readonly body: Buffer;
  /** Days until the certificate ends; `NaN` without TLS. */
  readonly certificateDays: number;
  readonly #headers: IncomingHttpHeaders;

  constructor({ statusCode = 0, headers, socket }: IncomingMessage, body: Buffer) {
    const end = socket instanceof TLSSocket ? socket.getPeerCertificate().valid_to : "";
    this.status = statusCode;
    this.body = body;
    this.certificateDays = Math.floor((Date.parse(end) - Date.now()) / DAY_MS);
    this.#headers = headers;
  }

  /** A header; empty if absent. */
  header(name: string): string {
    return String(this.#headers[name.toLowerCase()] ?? "");
  }

  /** A member of the JSON body, or of a member of it; `undefined` if it has none of that name. */
  member(...names: string[]): unknown {
    try {
      const parsed: unknown = JSON.parse(this.body.toString("utf8"));
      return names.reduce<unknown>((value, name) => Reflect.get(Object(value), name), parsed);
    } catch {
      // The body is not JSON.
      return undefined;
    }
  }

  /** The `detail` of a problem reply (RFC 9457); empty for a reply of a proxy or of the host app. */
  get problemDetail(): string {
    const isProblem = /^application\/problem\+json\b/i.test(this.header("Content-Type"));
    return isProblem ? String(this.member("detail") ?? "") : "";
  }

  /** The status with the problem or the likely sender. Safe to print. */
  toString(): string {
    const { status, problemDetail } = this;
    if (problemDetail !== "") return printable(`${status} (${problemDetail.replace(/\.$/, "")})`);
    if (status >= 300 && status < 400) return printable(`${status} to ${this.header("Location")}`);
    const type = this.header("Content-Type").split(";", 1)[0] || "no content";
    const server = this.header("Server").replace(/^(?=.)/, " from ");
    return printable(`${status} with ${type}${status < 400 ? "" : `${server}, not Outrigger's`}`);
  }
}

/** An image created by a check. */
export interface UploadedImage {
  id: string;
  pin: string;
  /** Address of its record below the mount. */
  record: string;
  /** Address of its PNG below the mount. */
  picture: string;
  /** The reply to its create. */
  created: Reply;
}

/** The address to check. */
export interface MountOptions {
  /** Absolute URL of the mount point, without a trailing slash. */
  base: string;
  /** Sent with every request, e.g. credentials for the host app. */
  headers: Readonly<Record<string, string>>;
  /** How long a slow upload pauses; milliseconds. @default 7000 */
  patienceMs?: number;
}

/** A running service as its clients reach it, with the images that the checks uploaded. */
export class Mount {
  /** Absolute URL of the mount point. */
  readonly base: string;
  readonly patienceMs: number;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #images = new Map<string, UploadedImage>();

  constructor({ base, headers, patienceMs = 7000 }: MountOptions) {
    this.base = base;
    this.patienceMs = patienceMs;
    this.#headers = headers;
  }

  /** The mount at the target of a redirect. Another host, or a connection without TLS, does not receive the headers. */
  at(base: string): Mount {
    const [from, to] = [new URL(this.base), new URL(base)];
    const isSafe = to.hostname === from.hostname && (to.protocol === "https:" || from.protocol === "http:");
    return new Mount({ base, headers: isSafe ? this.#headers : {}, patienceMs: this.patienceMs });
  }

  /**
   * Sends a request to an address below the mount point. Each request has a new connection, so that a proxy spreads them over its
   * processes. Follows no redirect. Rejects with Node's error if there is no reply.
   */
  async send(
    path: string,
    method = "GET",
    headers = {},
    body: AsyncIterable<Buffer> | Iterable<Buffer> = [],
  ): Promise<Reply> {
    const url = new URL(this.base + path);
    const { request } = url.protocol === "https:" ? https : http;
    const always = { "User-Agent": `${DOCTOR_NAME}/${readOwnPackage().version}`, Accept: "*/*" };
    const outgoing = request(url, {
      method,
      headers: { ...always, ...this.#headers, ...headers },
      agent: false,
      timeout: SILENCE_MS,
    });
    outgoing.on("timeout", () => outgoing.destroy(new Error("nothing answers in time")));
    // After a reply, a server may close a connection that is still sending: that error changes nothing.
    outgoing.on("error", () => undefined);
    Readable.from(body).pipe(outgoing);
    const [incoming] = (await once(outgoing, "response")) as [IncomingMessage]; // By its contract.
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of incoming) {
      size += chunk.length;
      if (size > MAX_REPLY_BYTES) throw new Error(`the reply is longer than ${MAX_REPLY_BYTES} bytes`);
      chunks.push(chunk);
    }
    return new Reply(incoming, Buffer.concat(chunks));
  }

  /**
   * Uploads a file and waits until it is processed. The image expires by itself, as the service does by default.
   * @param pauseMs Milliseconds between the halves of the body.
   * @returns The image; the reply if none was created.
   */
  async upload(file: Blob, pauseMs = 0): Promise<UploadedImage | Reply> {
    const form = new FormData();
    form.set("name", "outrigger doctor");
    form.set("imagedata", file, "doctor");
    const encoded = new Response(form);
    const type = encoded.headers.get("content-type");
    const whole = Buffer.from(await encoded.arrayBuffer());
    const headers = { Prefer: "respond-async", "Content-Type": type, "Content-Length": whole.length };
    const body = inHalves(whole, pauseMs);
    const created = await this.send("/api/images.json", "POST", headers, body);
    const [id, pin] = [created.member("id"), created.member("pin")];
    let { status } = created;
    if (![201, 202].includes(status) || typeof id !== "string" || typeof pin !== "string") return created;
    const record = `/api/images/${id}.json`;
    const image = { id, pin, record, picture: `/api/images/${id}.png`, created };
    this.#images.set(id, image);
    while (status === 202 && Date.now() < created.arrivedMs + MAX_READY_MS) {
      await sleep(POLL_MS);
      ({ status } = await this.send(record));
    }
    return image;
  }

  /** Sends DELETE for an image. */
  async remove({ id, record, pin }: UploadedImage): Promise<Reply> {
    const reply = await this.send(record, "DELETE", { "X-Service-Image-Pin": pin });
    if ([204, 404, 410].includes(reply.status)) this.#images.delete(id);
    return reply;
  }

  /** Deletes the uploaded images. @returns The ids of images that could not be deleted. */
  async leave(): Promise<string[]> {
    // The returned ids report failures.
    for (const image of this.#images.values()) await this.remove(image).catch(() => undefined);
    return [...this.#images.keys()];
  }
}

async function* inHalves(body: Buffer, pauseMs: number): AsyncGenerator<Buffer> {
  const half = Math.floor(body.length / 2);
  yield body.subarray(0, half);
  if (pauseMs > 0) await sleep(pauseMs);
  yield body.subarray(half);
}

/** A PNG of noise with sides of so many pixels, which neither compression nor cleaning reduces. */
export function noisePng(side: number): Blob {
  const rows = randomBytes(side * (1 + 3 * side));
  // Each row begins with its filter: none.
  for (let row = 0; row < side; row++) rows[row * (1 + 3 * side)] = 0;
  // 8 bits of red, green and blue.
  const header = Buffer.concat([bigEndian(side), bigEndian(side), Buffer.from([8, 2, 0, 0, 0])]);
  const chunks = { IHDR: header, IDAT: deflateSync(rows, { level: 0 }), IEND: Buffer.alloc(0) };
  const parts = Object.entries(chunks).flatMap(([type, content]) => {
    const typed = Buffer.concat([Buffer.from(type, "latin1"), content]);
    return [bigEndian(content.length), typed, bigEndian(crc32(typed))];
  });
  const signature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
  return new Blob([Buffer.concat([signature, ...parts])], { type: "image/png" });
}

function bigEndian(number: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(number);
  return bytes;
}
