import { createRenderer } from "@outrigger/imaging";
import { ConfigError } from "../../config/config-error.ts";
import { loadConfig, type ServeFlags } from "../../config/load-config.ts";
import { type ServerSettings, settingsOf } from "../../config/settings.ts";
import { distinctTargets } from "../../config/targets/storage-target.ts";
import { checkFonts } from "./check-fonts.ts";
import { checkLookup } from "./check-lookup.ts";
import { checkNode, checkOpenFiles } from "./check-process.ts";
import { checkRenderer } from "./check-renderer.ts";
import { checkSecret } from "./check-secret.ts";
import { checkSizes, checkTimeOuts } from "./check-settings.ts";
import { checkLeases, checkTarget } from "./check-storage.ts";
import { type Finding, lineOf } from "./finding.ts";
import { examineMount } from "./mount/examine-mount.ts";
import { type MountFlags, visitOptionsOf } from "./mount/visit-options.ts";

/** The options of `outrigger doctor`, as they were typed. */
export interface DoctorFlags extends Pick<ServeFlags, "config" | "data">, MountFlags {
  json?: boolean;
}

/**
 * `outrigger doctor`: one line for each thing that it looks at, or one JSON object with all of them. The exit code
 * becomes 1 where there is a problem.
 * @param url Of a mount, which is looked at from outside. Absent: this machine is looked at.
 * @throws ConfigError for what cannot be, and for options of the other kind.
 */
export async function doctor(url: string | undefined, flags: DoctorFlags): Promise<void> {
  const { json = false } = flags;
  const examination = url === undefined ? await ofThisMachine(flags) : ofMount(url, flags);
  // The reader may have ended; the exit code still tells.
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
  refuse(flags, ["header", "patience"], "is for a URL, and none was given");
  const { config, data } = flags;
  const given = { ...(config === undefined ? {} : { config }), ...(data === undefined ? {} : { data }) };
  return examine(settingsOf(await loadConfig(given, process.env)));
}

function ofMount(url: string, flags: DoctorFlags): AsyncGenerator<Finding> {
  refuse(flags, ["config", "data"], "is for this machine, not for a URL");
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

/** Looks at everything that a server with these settings needs, and leaves nothing behind. */
export async function* examine(settings: ServerSettings): AsyncGenerator<Finding> {
  const { storage, secret, lookup, renderer: options } = settings;
  yield checkNode();
  yield* checkOpenFiles();
  for (const shared of distinctTargets(storage)) yield* await checkTarget(shared);
  yield* await checkLeases(storage);
  yield await checkSecret(storage.records, secret !== undefined);
  yield* checkTimeOuts(settings);
  yield checkSizes(settings);
  if (lookup !== false) yield* await checkLookup(lookup);
  const renderer = createRenderer(options);
  try {
    yield* await checkRenderer(renderer);
    yield* await checkFonts(renderer);
  } finally {
    await renderer.close();
  }
}
