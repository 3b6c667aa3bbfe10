import { examineMount } from "../../packages/server/src/commands/doctor/examine-mount.ts";
import type { Finding } from "../../packages/server/src/commands/doctor/finding.ts";

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
