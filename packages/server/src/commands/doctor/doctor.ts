import { distinctTargets } from "@outrigger/core/stores";
import { ifInstalled, installLine } from "../../cli/parts.ts";
import { printOut } from "../../cli/print.ts";
import { usageError } from "../../config/config-error.ts";
import { type DataFlags, loadConfig } from "../../config/load-config.ts";
import { type ServerSettings, settingsOf } from "../../config/settings.ts";
import { mountUrlOf } from "../remote/service.ts";
import {
  checkAddresses,
  checkNode,
  checkOpenFiles,
  checkSecret,
  checkSizes,
  checkTimeOuts,
} from "./check-machine.ts";
import { checkFonts, checkRenderer } from "./check-renderer.ts";
import { checkLeases, checkLookup, checkTarget, checkTogether } from "./check-storage.ts";
import { examineMount } from "./examine-mount.ts";
import { type Finding, lineOf, problem } from "./finding.ts";
import type { MountOptions } from "./mount.ts";

/** The options of `outrigger doctor` as typed. */
export interface DoctorFlags extends DataFlags {
  /** Headers as `Name: value`. */
  header?: readonly string[];
  json?: boolean;
}

/**
 * `outrigger doctor`: prints one line for each finding, or one JSON object with all findings. Sets the exit code to 1 if there
 * is a problem.
 * @param url Address of a mount, which is checked from outside. Absent: checks this machine.
 * @throws ConfigError for an invalid configuration, and for options that do not apply.
 */
export async function doctor(url: string | undefined, flags: DoctorFlags): Promise<void> {
  if (url === undefined && flags.header !== undefined)
    throw usageError("--header: applies only to a URL, and no URL was given");
  const foreign = (["config", "data"] as const).filter((name) => flags[name] !== undefined);
  if (url !== undefined && foreign.length > 0)
    throw usageError(...foreign.map((name) => `--${name}: applies only to this machine, not to a URL`));
  const examination =
    url === undefined
      ? examineMachine(settingsOf(await loadConfig(flags, process.env)))
      : examineMount(mountOptionsOf(url, flags.header));
  const findings: Finding[] = [];
  for await (const finding of examination) {
    findings.push(finding);
    if (!flags.json) printOut(lineOf(finding));
  }
  const isWell = findings.every(({ status }) => status !== "problem");
  if (flags.json) printOut(`${JSON.stringify({ ok: isWell, findings }, null, 2)}\n`);
  if (!isWell) process.exitCode = 1;
}

/** @throws ConfigError that names each invalid option. It quotes no header and no URL, which may have a secret. */
export function mountOptionsOf(url: string, header: readonly string[] = []): MountOptions {
  const problems: string[] = [];
  const headers: Record<string, string> = {};
  for (const text of header) {
    const [, name = "", value = ""] = /^([^:\s]+):\s*(.*)$/s.exec(text) ?? [];
    try {
      new Headers([[name, value]]);
      headers[name] = value;
    } catch {
      problems.push('--header: must be a header such as "Authorization: Bearer …"');
    }
  }
  if (problems.length > 0) throw usageError(...problems);
  return { base: mountUrlOf(url, "URL"), headers };
}

/** Checks everything that a server with these settings needs, and leaves no data behind. */
async function* examineMachine(settings: ServerSettings): AsyncGenerator<Finding> {
  const { storage, secret, lookup } = settings;
  yield checkNode();
  yield* checkOpenFiles();
  for (const shared of distinctTargets(storage)) yield* await checkTarget(shared);
  yield* await checkTogether(storage);
  yield* await checkLeases(storage);
  yield await checkSecret(storage.records, secret !== undefined);
  yield checkTimeOuts(settings);
  yield checkSizes(settings);
  yield checkAddresses(settings);
  if (lookup !== false) yield* await checkLookup(lookup);
  const name = "@outrigger/imaging";
  const imaging = await ifInstalled(name, () => import("@outrigger/imaging"));
  if (imaging === null)
    return yield problem("renderer", `${name} is not installed`, `Install it with ${installLine([name])}`);
  const renderer = imaging.createRenderer(settings.renderer);
  try {
    yield* await checkRenderer(renderer);
    yield* await checkFonts(renderer);
  } finally {
    await renderer.close();
  }
}
