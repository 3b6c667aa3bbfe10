import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { readOwnPackage } from "../../../cli/own-package.ts";
import type { Finding } from "../finding.ts";
import { type Answer, headerOf } from "./answer.ts";
import { type Ask, exchange } from "./exchange.ts";
import { type UploadedImage, uploadedImage } from "./uploaded-image.ts";

const LIFETIME_MS = 15 * 60_000;
const MAX_WAIT_SECONDS = 65;
const MAX_WAITS = 2;
const MAX_READY_MS = 60_000;

/** First product of the User-Agent of these checks. */
export const DOCTOR_NAME = "outrigger-doctor";

/** A file to upload. */
export interface UploadFile {
  name: string;
  type: string;
  bytes: Buffer;
}

/** Access to a mount for the checks. */
export interface MountVisit {
  /** Absolute URL of the mount point, without a trailing slash. After a redirect it is the target. */
  base: string;
  /** How long a slow upload pauses; milliseconds. */
  patienceMs: number;
  /**
   * Sends a request to an address below the mount point. After 429 with Retry-After, waits and retries.
   * Rejects with Node's error if there is no reply.
   */
  send(path: string, ask?: Ask): Promise<Answer>;
  /** Uploads a file. `leave` deletes the image; otherwise it expires soon. */
  upload(file: UploadFile, options?: UploadOptions): Promise<Upload>;
  /** Notes that an image is deleted, so that `leave` skips it. */
  forget(id: string): void;
  /** Milliseconds by which the mount's clock is ahead of this machine's; 0 if unknown. */
  clockAheadMs: number;
  /** Deletes the uploaded images. @returns The ids of images that could not be deleted. */
  leave(): Promise<string[]>;
}

/** The result of an upload. */
export interface Upload {
  answer: Answer;
  /** `null` if the upload failed. */
  image: UploadedImage | null;
}

export interface UploadOptions {
  headers?: Readonly<Record<string, string>> | undefined;
  /** Whether to set an early expiry. @default true */
  expires?: boolean | undefined;
  /** Whether to pause for `patienceMs` in the middle. @default false */
  pauses?: boolean | undefined;
}

export interface VisitOptions {
  base: string;
  /** Sent with every request, e.g. credentials for the host app. */
  headers: Readonly<Record<string, string>>;
  patienceMs: number;
}

export function createVisit({ base, headers, patienceMs }: VisitOptions): MountVisit {
  const made = new Map<string, UploadedImage>();
  const always = { "User-Agent": `${DOCTOR_NAME}/${readOwnPackage().version}`, Accept: "*/*" };
  const asked = new URL(base);
  // A redirect may lead to another host, which must not receive the credentials.
  const ownHeaders = ({ protocol, hostname }: URL) =>
    hostname === asked.hostname && (protocol === "https:" || asked.protocol === "http:") ? headers : {};

  const visit: MountVisit = {
    base,
    patienceMs,
    clockAheadMs: 0,
    async send(path, ask = {}) {
      const url = new URL(`${visit.base}${path}`);
      for (let waits = 0; ; waits++) {
        const sent = { ...always, ...ownHeaders(url), ...ask.headers };
        const answer = await exchange(url, { ...ask, headers: sent });
        const seconds = Number(headerOf(answer, "retry-after") ?? Number.NaN);
        const mayWait = answer.status === 429 && seconds <= MAX_WAIT_SECONDS && waits < MAX_WAITS;
        if (!mayWait || !(ask.body === undefined || Buffer.isBuffer(ask.body))) return answer;
        await sleep(seconds * 1000);
      }
    },
    async upload(file, { headers: more = {}, expires = true, pauses = false } = {}) {
      const form = new FormData();
      form.set("name", `outrigger doctor ${randomUUID()}`);
      if (expires) form.set("expiresAt", String(Date.now() + visit.clockAheadMs + LIFETIME_MS));
      form.set("imagedata", new Blob([new Uint8Array(file.bytes)], { type: file.type }), file.name);
      const encoded = new Response(form);
      const body = Buffer.from(await encoded.arrayBuffer());
      const answer = await visit.send("/api/images.json", {
        method: "POST",
        headers: {
          "Content-Type": encoded.headers.get("content-type") ?? "",
          "Content-Length": String(body.length),
          ...more,
        },
        body: pauses ? inHalves(body, patienceMs) : body,
      });
      const image = uploadedImage(answer);
      if (image !== null) made.set(image.id, image);
      return { answer, image };
    },
    forget(id) {
      made.delete(id);
    },
    async leave() {
      const left: string[] = [];
      for (const { id, pin } of made.values()) {
        const path = `/api/images/${id}.json`;
        const status = await visit
          .send(path, { method: "DELETE", headers: { "X-Service-Image-Pin": pin } })
          .then(
            (answer) => answer.status,
            // The returned id reports the failure.
            () => 0,
          );
        if (![204, 404, 410].includes(status)) left.push(id);
      }
      return left;
    },
  };
  return visit;
}

async function* inHalves(body: Buffer, pauseMs: number): AsyncGenerator<Buffer> {
  const half = Math.floor(body.length / 2);
  yield body.subarray(0, half);
  await sleep(pauseMs);
  yield body.subarray(half);
}

/** The reply for an image's record once it is processed; 202 if that takes too long. */
export async function untilReady(visit: MountVisit, id: string): Promise<Answer> {
  const deadline = Date.now() + MAX_READY_MS;
  for (;;) {
    const answer = await visit.send(`/api/images/${id}.json`);
    if (answer.status !== 202 || Date.now() > deadline) return answer;
    await sleep(Math.min(5, Number(headerOf(answer, "retry-after") ?? 1) || 1) * 1000);
  }
}

/** A check of a mount with an uploaded image. Rejects with Node's error if there is no reply. */
export type MountCheck = (visit: MountVisit, image: UploadedImage) => Promise<Finding[]>;

/** An address of an image below the mount point. */
export function pathOf({ id }: Pick<UploadedImage, "id">, suffix: string): string {
  return `/api/images/${id}.${suffix}`;
}
