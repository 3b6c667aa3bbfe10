import { migrateStorage } from "@outrigger/core";
import { listenForSignals } from "../listen-for-signals.ts";
import { loadConfig } from "../load-config.ts";
import { secretsOf } from "../secret-text.ts";
import { describeTargets } from "../storage/describe-storage.ts";
import { type OpenStorage, openStorage } from "../storage/open-storage.ts";
import { planSecret } from "./carry-secret.ts";
import { migrationError } from "./migration-error.ts";
import { readSides, type Sides } from "./read-sides.ts";
import { showProgress } from "./show-progress.ts";
import { tellReport } from "./tell-report.ts";

/** The options of `outrigger migrate`, proved as far as the command line alone allows. */
export interface MigrateFlags {
  from: string;
  to: string;
  secretFile?: string;
  /** `--without-renditions` */
  withoutRenditions?: boolean;
  verify?: boolean;
  concurrency?: number;
  json?: boolean;
  quiet?: boolean;
  config?: string;
}

const SIGNAL_EXIT = 130;

/** `outrigger migrate`: makes one storage the same as another. */
export async function migrate(flags: MigrateFlags): Promise<void> {
  const sides = readSides(flags.from, flags.to);
  const { secret = [] } = await loadConfig(
    flags.config === undefined ? {} : { config: flags.config },
    process.env,
  );
  const { from, to } = { from: sides.from.records, to: sides.to.records };
  const plan = await planSecret({ from, to, configured: secretsOf(secret), secretFile: flags.secretFile });
  const source = await openStorage(sides.from);
  try {
    const target = await openStorage(sides.to);
    try {
      await tellWarnings(target);
      await run(flags, sides, source, target, plan);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function run(
  { withoutRenditions = false, verify = false, concurrency, json = false, quiet = false }: MigrateFlags,
  sides: Sides,
  source: OpenStorage,
  target: OpenStorage,
  plan: Awaited<ReturnType<typeof planSecret>>,
): Promise<void> {
  const interrupted = listenForSignals();
  const view = quiet ? null : showProgress();
  const beganAt = performance.now();
  try {
    const report = await migrateStorage({
      from: source.stores,
      to: target.stores,
      source: nameOf(sides),
      verify,
      withRenditions: !withoutRenditions,
      ...(concurrency === undefined ? {} : { concurrency }),
      signal: interrupted.signal,
      onProgress: (progress) => view?.update(progress),
      beforeFinish: plan.carry,
    });
    view?.close();
    tellReport(report, performance.now() - beganAt, plan.advice, json);
    if (!report.isComplete || report.damaged.length > 0) process.exitCode = 1;
  } catch (error) {
    view?.close();
    if (!interrupted.signal.aborted) throw migrationError(error);
    process.stderr.write("outrigger: Stopped. Run the same command again, it goes on where it was\n");
    process.exitCode = SIGNAL_EXIT;
  } finally {
    interrupted.end();
  }
}

/** Names the source in the mark at the target: the same text as long as it is the same store. */
function nameOf({ from }: Sides): string {
  const described = describeTargets(from);
  return typeof described === "string" ? described : JSON.stringify(described);
}

async function tellWarnings({ targets }: OpenStorage): Promise<void> {
  for (const { warnings } of targets) {
    for (const text of await warnings()) process.stderr.write(`outrigger: warning: ${text}\n`);
  }
}
