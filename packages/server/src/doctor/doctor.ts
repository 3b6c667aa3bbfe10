import { loadConfig, type ServeFlags } from "../load-config.ts";
import { settingsOf } from "../settings.ts";
import { examine } from "./examine.ts";
import { type Finding, lineOf } from "./finding.ts";

/** The options of `outrigger doctor`, as they were typed. */
export interface DoctorFlags extends Pick<ServeFlags, "config" | "data"> {
  json?: boolean;
}

/**
 * `outrigger doctor`: one line for each thing that it looks at, or one JSON object with all of them. The exit code
 * becomes 1 where there is a problem.
 */
export async function doctor({ json = false, ...flags }: DoctorFlags): Promise<void> {
  const settings = settingsOf(await loadConfig(flags, process.env));
  // Whoever reads may have seen enough; the exit code still tells.
  process.stdout.on("error", () => {});
  const findings: Finding[] = [];
  for await (const finding of examine(settings)) {
    findings.push(finding);
    if (!json) process.stdout.write(lineOf(finding));
  }
  const isWell = findings.every(({ status }) => status !== "problem");
  if (json) process.stdout.write(`${JSON.stringify({ ok: isWell, findings }, null, 2)}\n`);
  if (!isWell) process.exitCode = 1;
}
