import type { Operation } from "./attempt.ts";
import { startHost, threadsOf } from "./host-process.ts";
import { temporaryDirectories, temporaryFiles } from "./left-overs.ts";
import type { Point } from "./points.ts";
import { traceThreads } from "./tracing.ts";

export interface KillResult {
  /** Whether the operation reached the point. */
  isHit: boolean;
  violations: string[];
}

/** Kills a host at a point of an operation and examines the directory with a new host. */
export async function killAt(
  operation: Operation,
  { role, call, when }: Point,
  directory: string,
  mutant = "",
): Promise<KillResult> {
  const host = await startHost(directory, mutant);
  const attempt = await operation(host.base, directory);
  const tracing = await traceThreads(threadsOf(host, role), [call], { call, effect: "signal=KILL", when });
  const answer = await attempt.run();
  await tracing.quiet();
  const calls = await tracing.end();
  await host.kill();

  const next = await startHost(directory);
  try {
    const violations = await leftOvers(directory);
    violations.push(...(await attempt.check(next.base, answer)));
    return { isHit: calls.length >= when, violations };
  } finally {
    await next.kill();
  }
}

/** Files that a new process should have removed at its start; it has done nothing else yet. */
async function leftOvers(directory: string): Promise<string[]> {
  const files = await temporaryFiles(directory);
  const directories = await temporaryDirectories(directory);
  return [
    ...files.map((path) => `the temporary file ${path} is left`),
    ...(directories.length === 1 ? [] : [`${directories.length} places for temporary files, of one process`]),
  ];
}
