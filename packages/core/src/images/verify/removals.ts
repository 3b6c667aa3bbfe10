import { attempt, type VerifyContext } from "./verify-context.ts";
import type { VerifyFinding } from "./verify-options.ts";

/** A repair removes this many images and originals, or this share of them, without a number that allows more. */
const FEW = 3;
const SMALL_SHARE = 0.01;

/** Notes a defect that only a removal ends, until {@link runRemovals}. Reports it at once if nothing is to be removed. */
export function planRemoval(context: VerifyContext, finding: VerifyFinding): void {
  const { planned, report, progress } = context;
  report.unrestorable++;
  const most = context.maxRemovals ?? Math.max(FEW, Math.ceil(progress.totalKeys * SMALL_SHARE));
  if (context.isRepair && report.unrestorable <= most) planned.push(finding);
  else {
    giveUp(context);
    context.found(finding);
  }
}

/**
 * Removes what was planned, unless that is more than allowed: then nothing is removed, here and afterwards. Each defect is checked
 * again before, and so are the stores.
 */
export async function runRemovals(
  context: VerifyContext,
  remove: (context: VerifyContext, finding: VerifyFinding) => Promise<void>,
): Promise<void> {
  const { report, planned } = context;
  const of = report.images + report.orphans;
  const most = context.maxRemovals ?? Math.max(FEW, Math.floor(of * SMALL_SHARE));
  const isAllowed = report.unrestorable <= most;
  if (context.isRepair && report.unrestorable > 0) {
    context.onRemovals({ removals: report.unrestorable, of, most, isAllowed });
  }
  if (!isAllowed) {
    giveUp(context);
    context.mayRemove = false;
  }
  for (const finding of planned.splice(0)) {
    context.signal?.throwIfAborted();
    // A volume may have gone away meanwhile.
    await context.retry(() => context.life.guard.confirmAll());
    await attempt(context, finding.key, () => remove(context, finding));
  }
}

/** Reports what was planned as not repaired. */
function giveUp(context: VerifyContext): void {
  for (const finding of context.planned.splice(0)) context.found(finding);
}
