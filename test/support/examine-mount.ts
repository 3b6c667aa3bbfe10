import type { Finding } from "../../packages/server/src/commands/doctor/finding.ts";
import { IMAGE_CHECKS } from "../../packages/server/src/commands/doctor/mount/check-image.ts";
import { UPLOAD_CHECKS } from "../../packages/server/src/commands/doctor/mount/check-uploads.ts";
import {
  checkUpload,
  examineMount,
  MOUNT_CHECKS,
} from "../../packages/server/src/commands/doctor/mount/examine-mount.ts";
import { MountVisit } from "../../packages/server/src/commands/doctor/mount/visit.ts";

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

const ALL = Object.entries({ ...MOUNT_CHECKS, ...IMAGE_CHECKS, ...UPLOAD_CHECKS });
/** All but those that draw or wait. */
const QUICK = ALL.map(([name]) => name).filter((name) => !["sizes", "fonts", "slow upload"].includes(name));

/** What checks find, these alone after an upload. `left`: what of it could not be deleted. */
export async function examineQuickly(
  base: string,
  {
    checks = QUICK,
    patienceMs = 0,
  }: { checks?: readonly string[] | undefined; patienceMs?: number | undefined },
): Promise<{ findings: Finding[]; left: string[] }> {
  const visit = new MountVisit({ base, headers: {}, patienceMs });
  const { finding, image } = await checkUpload(visit);
  const findings = [finding];
  for (const [name, check] of ALL)
    if (image !== undefined && checks.includes(name)) findings.push(...(await check(visit, image)));
  return { findings, left: await visit.leave() };
}
