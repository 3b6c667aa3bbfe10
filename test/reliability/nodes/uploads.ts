import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import sharp from "sharp";
import { postWithHeaders } from "../../support/post-with-headers.ts";
import type { Created } from "../../support/service.ts";
import { eventsOf } from "./node-log.ts";
import type { NodeProcess } from "./node-process.ts";
import { ask } from "./requests.ts";

/** A file to upload, and its name in a node's log. */
export interface File {
  bytes: Buffer;
  sha256: string;
}

/** Different small pictures. */
export function makeFiles(count: number): Promise<File[]> {
  return Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const picture = sharp({ create: { width: 20 + index, height: 20, channels: 3, background: "#a53" } });
      const bytes = await picture.png().toBuffer();
      return { bytes, sha256: createHash("sha256").update(bytes).digest("hex") };
    }),
  );
}

/** The outcome of an upload. */
export interface UploadAnswer {
  status: number;
  retryAfterS: number | null;
  /** ID of the image; `null` if there is none. */
  id: string | null;
}

/** Rejects without a reply. */
export async function send(
  node: NodeProcess,
  { bytes }: File,
  headers: Record<string, string> = {},
): Promise<UploadAnswer> {
  const response = await postWithHeaders(node, bytes, "image/png", headers);
  const retryAfter = response.headers.get("retry-after");
  const body = (await response.json()) as Partial<Created>;
  return {
    status: response.status,
    retryAfterS: retryAfter === null ? null : Number(retryAfter),
    id: body.id ?? null,
  };
}

/** Retries an upload while another one with its key is reported as running. */
export async function sendUntilDone(
  node: NodeProcess,
  file: File,
  headers: Record<string, string>,
): Promise<UploadAnswer> {
  for (;;) {
    const answer = await send(node, file, headers);
    if (answer.status !== 409 || answer.retryAfterS === null) return answer;
    await delay(answer.retryAfterS * 1000);
  }
}

/** All images that a node knows, with their states. */
export async function imagesOf({ origin }: NodeProcess): Promise<{ id: string; state: string }[]> {
  const { body } = await ask(`${origin}/images`);
  return JSON.parse(body.toString()) as { id: string; state: string }[]; // As node.mjs writes it.
}

/** The admissions that have begun: each file and process, once per admission. */
export async function admissionsOf(directory: string): Promise<{ pid: number; sha256: string }[]> {
  return (await eventsOf(directory, "admit")).map(({ pid, what }) => ({ pid, sha256: what }));
}
