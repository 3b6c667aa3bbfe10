import type { Finding } from "../../packages/server/src/commands/doctor/finding.ts";
import { checkDelete, checkEdits } from "../../packages/server/src/commands/doctor/mount/check-edits.ts";
import {
  checkImagePages,
  checkUploadPage,
} from "../../packages/server/src/commands/doctor/mount/check-pages.ts";
import { checkErrors } from "../../packages/server/src/commands/doctor/mount/check-reach.ts";
import {
  checkReads,
  checkSafetyHeaders,
} from "../../packages/server/src/commands/doctor/mount/check-reads.ts";
import {
  checkAddresses,
  checkAgent,
  checkLargeUpload,
  checkPrefer,
  checkUpload,
} from "../../packages/server/src/commands/doctor/mount/check-uploads.ts";
import { examineMount } from "../../packages/server/src/commands/doctor/mount/examine-mount.ts";
import {
  createVisit,
  DOCTOR_NAME,
  type MountCheck,
} from "../../packages/server/src/commands/doctor/mount/visit.ts";

/** What of the test's machine, not of the mount, findings depend on. */
const FONTS = /^fonts$| text$/;

/** All that `outrigger doctor` finds at a mount. */
export async function examine(
  base: string,
  options: { headers?: Record<string, string>; patienceMs?: number } = {},
): Promise<Finding[]> {
  const { headers = {}, patienceMs = 300 } = options;
  const findings: Finding[] = [];
  for await (const finding of examineMount({ base, headers, patienceMs })) findings.push(finding);
  return findings;
}

/** What is not as it should be, whatever fonts there are. */
export function amiss(findings: readonly Finding[]): Finding[] {
  return findings.filter(({ check, status }) => status !== "ok" && !FONTS.test(check));
}

/** All but those that draw. */
const QUICK: readonly MountCheck[] = [
  checkErrors,
  checkUploadPage,
  checkAddresses,
  async (_visit, image) => [checkAgent(DOCTOR_NAME, image)],
  checkReads,
  checkSafetyHeaders,
  checkEdits,
  checkImagePages,
  checkPrefer,
  checkLargeUpload,
  checkDelete,
];

/** What checks find, these alone after an upload. `left`: what of it could not be deleted. */
export async function examineQuickly(
  base: string,
  {
    checks = QUICK,
    patienceMs = 0,
  }: { checks?: readonly MountCheck[] | undefined; patienceMs?: number | undefined },
): Promise<{ findings: Finding[]; left: string[] }> {
  const visit = createVisit({ base, headers: {}, patienceMs });
  const { findings, image } = await checkUpload(visit);
  if (image !== null) for (const check of checks) findings.push(...(await check(visit, image)));
  return { findings, left: await visit.leave() };
}
