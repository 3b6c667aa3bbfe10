import { distinctTargets } from "@outrigger/core/stores";
import { ifInstalled, installLine } from "../../cli/parts.ts";
import { ConfigError } from "../../config/config-error.ts";
import { loadConfig, type ServeFlags } from "../../config/load-config.ts";
import { type ServerSettings, settingsOf } from "../../config/settings.ts";
import { checkFonts } from "./check-fonts.ts";
import { checkLookup } from "./check-lookup.ts";
import { checkNode, checkOpenFiles } from "./check-process.ts";
import { checkRenderer } from "./check-renderer.ts";
import { checkSecret } from "./check-secret.ts";
import { checkAddresses, checkSizes, checkTimeOuts } from "./check-settings.ts";
import { checkLeases, checkTarget, checkTogether } from "./check-storage.ts";
import { type Finding, lineOf, problem } from "./finding.ts";
import { examineMount } from "./mount/examine-mount.ts";
import { type MountFlags, visitOptionsOf } from "./mount/visit-options.ts";

/** The options of `outrigger doctor` as typed. */
export interface DoctorFlags extends Pick<ServeFlags, "config" | "data">, MountFlags {
  json?: boolean;
}

/**
 * `outrigger doctor`: prints one line for each finding, or one JSON object with all findings. Sets the exit code to 1 if there
 * is a problem.
 * @param url Address of a mount, which is checked from outside. Absent: checks this machine.
 * @throws ConfigError for an invalid configuration, and for options that do not apply.
 */
export async function doctor(url: string | undefined, flags: DoctorFlags): Promise<void> {
  const { json = false } = flags;
  const examination = url === undefined ? await ofThisMachine(flags) : ofMount(url, flags);
  // If the reader has ended, the exit code still reports problems.
  process.stdout.on("error", () => {});
  const findings: Finding[] = [];
  for await (const finding of examination) {
    findings.push(finding);
    if (!json) process.stdout.write(lineOf(finding));
  }
  const isWell = findings.every(({ status }) => status !== "problem");
  if (json) process.stdout.write(`${JSON.stringify({ ok: isWell, findings }, null, 2)}\n`);
  if (!isWell) process.exitCode = 1;
}

async function ofThisMachine(flags: DoctorFlags): Promise<AsyncGenerator<Finding>> {
  refuse(flags, ["header", "patience"], "applies only to a URL, and no URL was given");
  const { config, data } = flags;
  const given = { ...(config === undefined ? {} : { config }), ...(data === undefined ? {} : { data }) };
  return examine(settingsOf(await loadConfig(given, process.env)));
}

function ofMount(url: string, flags: DoctorFlags): AsyncGenerator<Finding> {
  refuse(flags, ["config", "data"], "applies only to this machine, not to a URL");
  return examineMount(visitOptionsOf(url, flags));
}

function refuse(flags: DoctorFlags, names: readonly (keyof DoctorFlags)[], why: string): void {
  const given = names.filter((name) => flags[name] !== undefined && String(flags[name]) !== "");
  if (given.length > 0)
    throw new ConfigError(
      "The command line",
      given.map((name) => `--${name}: ${why}`),
    );
}

/** Checks everything that a server with these settings needs, and leaves no data behind. */
export async function* examine(settings: ServerSettings): AsyncGenerator<Finding> {
  const { storage, secret, lookup, renderer: options } = settings;
  yield checkNode();
  yield* checkOpenFiles();
  for (const shared of distinctTargets(storage)) yield* await checkTarget(shared);
  yield* await checkTogether(storage);
  yield* await checkLeases(storage);
  yield await checkSecret(storage.records, secret !== undefined);
  yield* checkTimeOuts(settings);
  yield checkSizes(settings);
  yield checkAddresses(settings);
  if (lookup !== false) yield* await checkLookup(lookup);
  yield* examineRenderer(options);
}

const IMAGING = "@outrigger/imaging";

async function* examineRenderer(options: ServerSettings["renderer"]): AsyncGenerator<Finding> {
  const imaging = await ifInstalled(IMAGING, () => import("@outrigger/imaging"));
  if (imaging === null) {
    yield problem("renderer", `${IMAGING} is not installed`, `Install it with ${installLine([IMAGING])}`);
    return;
  }
  const renderer = imaging.createRenderer(options);
  try {
    yield* await checkRenderer(renderer);
    yield* await checkFonts(renderer);
  } finally {
    await renderer.close();
  }
}
