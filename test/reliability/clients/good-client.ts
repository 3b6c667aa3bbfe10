import { Agent } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { fetchReply, within } from "../../../packages/testing/src/adapter/http-client.ts";
import { uploadWhole } from "./abort-uploads.ts";
import type { Target } from "./target.ts";

const READ_EVERY_MS = 50;
const UPLOAD_EVERY_MS = 2000;

export interface GoodClientOptions {
  /** Address of the rendition that is read continuously. */
  hot: string;
  /** The picture that is uploaded now and then. */
  picture: Buffer;
  durationMs: number;
}

/** The results of a good client. */
export interface GoodService {
  /** Durations of the reads, in milliseconds. */
  reads: number[];
  uploads: number;
  failures: string[];
}

/** Reads at a fixed pace, however long the replies take, and uploads now and then. */
export async function beGoodClient(
  target: Target,
  { hot, picture, durationMs }: GoodClientOptions,
): Promise<GoodService> {
  const agent = new Agent({ keepAlive: true });
  const service: GoodService = { reads: [], uploads: 0, failures: [] };
  const attempt = (what: string, wanted: number, ask: () => Promise<{ status: number }>) =>
    within(ask(), what).then(
      ({ status }) => {
        if (status !== wanted) service.failures.push(`${what}: ${status}`);
        return status === wanted;
      },
      (error) => {
        service.failures.push(`${what}: ${error}`);
        return false;
      },
    );
  const read = async () => {
    const began = performance.now();
    if (await attempt("read", 200, () => fetchReply(hot, { agent })))
      service.reads.push(performance.now() - began);
  };
  const upload = async () => {
    if (await attempt("upload", 201, () => uploadWhole(target, picture))) service.uploads++;
  };
  const pending: Promise<void>[] = [];
  for (let passedMs = 0; passedMs < durationMs; passedMs += READ_EVERY_MS) {
    pending.push(read());
    if (passedMs % UPLOAD_EVERY_MS === 0) pending.push(upload());
    await delay(READ_EVERY_MS);
  }
  await Promise.all(pending);
  agent.destroy();
  return service;
}

/** Complaints about the service, in words; empty if it was good. */
export function complaintsAbout(
  { reads, uploads, failures }: GoodService,
  { share, withinMs }: { share: number; withinMs: number },
): string[] {
  const complaints: string[] = [];
  if (failures.length > 0) complaints.push(`${failures.length} requests failed: ${failures[0]}`);
  if (uploads === 0) complaints.push("no upload succeeded");
  const ms = quantile(reads, share);
  // An empty list of reads must not count as fast.
  if (!(ms < withinMs)) complaints.push(`${share * 100} % of reads took up to ${ms.toFixed()} ms`);
  return complaints;
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
