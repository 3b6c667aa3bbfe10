import { relative } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isDone, type Operation } from "./attempt.ts";
import { type HostProcess, threadsOf } from "./host-process.ts";
import type { Answer } from "./image-client.ts";
import { temporaryFiles } from "./left-overs.ts";
import type { Point } from "./points.ts";
import { type TracedCall, traceThreads } from "./tracing.ts";

export interface FaultResult {
  /** Whether the fault hit a call on a file of the data directory. */
  isHit: boolean;
  /** `null`: the connection ended before the reply. */
  status: number | null;
  violations: string[];
}

/**
 * A failed flush must not be retried: the retry would succeed, because the pages count as clean, without flushing
 * anything.
 */
const FLUSHES = ["fsync", "fdatasync"];
/** A process with closed connections has exited after this time, or never does. */
const EXIT_MS = 5000;
/** Files that cannot be removed stay until the next start. */
const REMOVALS = new Set([
  "unlink",
  "unlinkat",
  "rmdir",
  "openat",
  "newfstatat",
  "statx",
  "getdents64",
  "rename",
]);

/** Makes one system call of an operation fail, then examines the same process. */
export async function failAt(
  operation: Operation,
  { role, call, when }: Point,
  error: string,
  host: HostProcess,
  directory: string,
): Promise<FaultResult> {
  const attempt = await operation(host.base, directory);
  const before = new Set(await temporaryFiles(directory));
  const injection = { call, effect: `error=${error}`, when };
  const tracing = await traceThreads(threadsOf(host, role), [...new Set([call, ...FLUSHES])], injection);
  const answer = await attempt.run();
  await tracing.quiet();
  const calls = await tracing.end();
  const isHit = calls.some(({ isInjected, line }) => isInjected && line.includes(directory));
  const result = { isHit, status: answer?.status ?? null };
  const violations = isHit ? wrongAnswer(answer, { directory, error }) : [];
  if (answer === null) await Promise.race([host.exit, delay(EXIT_MS)]);
  // Without a hit, a failure is not ours to judge: the fault broke Node itself.
  if (!host.isAlive()) return { ...result, violations };

  const unflushed = calls.findIndex(({ name, isInjected }) => isInjected && FLUSHES.includes(name));
  if (unflushed !== -1) {
    const path = relative(directory, fileOf(calls[unflushed]));
    if (isDone(answer) && attempt.needs(path, error))
      violations.push(`acknowledged, and ${path} was not flushed`);
    // A flush of another directory may belong to the next change in it.
    const isFlushedAgain = calls
      .slice(unflushed + 1)
      .some((later) => FLUSHES.includes(later.name) && relative(directory, fileOf(later)) === path);
    if (isFlushedAgain && path.startsWith("tmp/"))
      violations.push(`${path} was flushed again after that had failed`);
  }
  if (!REMOVALS.has(call)) {
    const left = (await temporaryFiles(directory)).filter((path) => !before.has(path));
    violations.push(...left.map((path) => `the temporary file ${path} is left`));
  }
  violations.push(...(await attempt.check(host.base, answer)));
  return { ...result, violations };
}

/** The file of a call's first descriptor. */
function fileOf(call: TracedCall | undefined): string {
  return /<([^>]*)>/.exec(call?.line ?? "")?.[1] ?? "";
}

/** Faults of the reply that the client received. */
function wrongAnswer(answer: Answer | null, secrets: { directory: string; error: string }): string[] {
  if (answer === null) return ["the connection was cut"];
  if (isDone(answer)) return [];
  const { status, headers } = answer;
  // An ID may contain any word.
  const text = String(answer.body).replaceAll(/\/api\/images\/[\w-]{22}/g, "");
  const isOpen = /\n\s+at /.test(text) || Object.values(secrets).some((secret) => text.includes(secret));
  return [
    ...(status === 503 || status === 507 ? [] : [`answers ${status}: ${text}`]),
    ...(status === 503 && headers.get("retry-after") === null ? ["503 without Retry-After"] : []),
    ...(isOpen ? [`gives away: ${text}`] : []),
  ];
}
