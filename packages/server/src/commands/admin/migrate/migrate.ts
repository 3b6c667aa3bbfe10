import type { StorageTargets } from "@outrigger/core/stores";
import { migrateStorage } from "@outrigger/ops";
import { loadConfig } from "../../../config/load-config.ts";
import { secretsOf } from "../../../config/secret-text.ts";
import { describeTargets } from "../../../config/targets/describe-storage.ts";
import { type OpenStorage, type OpenTarget, openStorage } from "../../../storage/open-storage.ts";
import { planSecret } from "./carry-secret.ts";
import { printReport } from "./print-report.ts";
import { readSides, type Sides } from "./read-sides.ts";
import { runCopy } from "./run-copy.ts";

/** The options of `outrigger migrate`, validated by the command line. */
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

/** `outrigger migrate`: makes the target storage equal to the source. */
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
      await printWarnings(target.targets);
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
  const beganAt = performance.now();
  await runCopy({ quiet, json }, "Nothing was copied", async (running) => {
    const report = await migrateStorage({
      from: source.stores,
      to: target.stores,
      source: nameOf(sides.from),
      verify,
      withRenditions: !withoutRenditions,
      ...(concurrency === undefined ? {} : { concurrency }),
      ...running.options,
      ...(plan.known.length === 0 ? {} : { secret: plan.known }),
      beforeFinish: plan.carry,
    });
    running.end();
    printReport(report, performance.now() - beganAt, plan.advice, json);
    if (!report.isComplete || report.damaged.length > 0) process.exitCode = 1;
  });
}

/** The name of a source in the mark at the target; the same store always has the same name. */
export function nameOf(targets: StorageTargets): string {
  const described = describeTargets(targets);
  return typeof described === "string" ? described : JSON.stringify(described);
}

export async function printWarnings(targets: readonly Pick<OpenTarget, "warnings">[]): Promise<void> {
  for (const { warnings } of targets) {
    for (const text of await warnings()) process.stderr.write(`outrigger: warning: ${text}\n`);
  }
}
