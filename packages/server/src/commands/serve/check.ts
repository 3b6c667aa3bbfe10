import { existsSync } from "node:fs";
import { access, constants, mkdtemp, readFile, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createFsBlobStore } from "@outrigger/core";
import type { Renderer } from "@outrigger/core/images";
import { distinctTargets, type SharedTarget, type StorageTargets } from "@outrigger/core/stores";
import { systemCode } from "@outrigger/core/values";
import { directoryReasonOf, fileReasonOf, reasonOf, serviceReasonOf } from "../../cli/error-reason.ts";
import { loadPart, requireParts } from "../../cli/parts.ts";
import { printOut } from "../../cli/print.ts";
import { StartError } from "../../config/config-error.ts";
import type { LookupSettings } from "../../config/lookup-settings.ts";
import { forgedHostRisk, type ServerSettings } from "../../config/settings.ts";
import { databaseUrl, describeDatabase } from "../../config/targets/database-target.ts";
import { describeTarget } from "../../config/targets/describe-storage.ts";
import { SET_SECRET } from "../../storage/choose-secret.ts";
import { requireDataDirectories } from "../../storage/data-directory.ts";
import { inspectTargets } from "../../storage/inspect-targets.ts";
import { openTarget } from "../../storage/open-storage.ts";
import { whyUnreachable } from "../../storage/storage-error.ts";
import { tryStorage } from "../../storage/try-storage.ts";
import { partsOf } from "./load-server.ts";

/** The result of one check. */
export interface Finding {
  check: string;
  /** A warning affects some pictures or clients. A server with a problem does not start, or fails at its work. */
  status: "ok" | "warning" | "problem";
  /** The state found and, unless it is ok, the remedy. Without a full stop. */
  detail: string;
}

/** The length that the store creates and requires. */
const SECRET_BYTES = 32;
const PICTURE = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="4" height="4"/>');
const FONTS = "Install fonts, e.g. with apt-get install fonts-dejavu-core; see docs/operating.md#fonts";

/**
 * `outrigger serve --check`: prints one line for each check of what a server with these settings needs, and leaves no data
 * behind. A server may be running. Sets the exit code to 1 if there is a problem.
 * @throws StartError that names the missing packages.
 */
export async function check(settings: ServerSettings): Promise<void> {
  await requireParts(partsOf(settings));
  for await (const { check: name, status, detail } of findings(settings)) {
    printOut(`${status.padEnd("problem".length)}  ${name}: ${detail}${status === "ok" ? "" : "."}\n`);
    if (status === "problem") process.exitCode = 1;
  }
}

async function* findings(settings: ServerSettings): AsyncGenerator<Finding> {
  yield checkSettings(settings);
  for (const shared of distinctTargets(settings.storage)) yield* await checkTarget(shared);
  yield* await checkTogether(settings.storage, settings.existing);
  yield await checkSecret(settings);
  if (settings.lookup !== false) yield await checkLookup(settings.lookup);
  const { createRenderer } = await import("@outrigger/imaging");
  const renderer = createRenderer(settings.renderer);
  try {
    const sandbox = await checkSandbox(renderer);
    yield sandbox;
    if (sandbox.status !== "problem") yield await checkFonts(renderer);
  } finally {
    await renderer.close();
  }
}

/** The loader has rejected invalid settings. */
function checkSettings(settings: ServerSettings): Finding {
  const forgery = forgedHostRisk(settings);
  if (forgery === null) return { check: "settings", status: "ok", detail: "valid" };
  return { check: "settings", status: "warning", detail: `${forgery.risk}. ${forgery.remedy}` };
}

/** Whether a store can be written and read, and keeps what it was given. Deletes its trial data. */
async function checkTarget(shared: SharedTarget): Promise<Finding[]> {
  const { target, roles } = shared;
  const check = roles.length === 3 ? "storage" : `storage of ${roles.join(" and ")}`;
  try {
    if (target.kind === "file")
      return [{ check, status: "ok", detail: await tryDirectory(target.directory) }];
    const { store, warnings } = await openTarget(shared);
    try {
      await tryStorage(store, `readyz/check-${process.pid}`);
      const found = (await warnings()).map(
        (text) => ({ check, status: "warning", detail: text.replace(/\.$/, "") }) as const,
      );
      return [{ check, status: "ok", detail: describeTarget(target) }, ...found];
    } finally {
      await store.close();
    }
  } catch (error) {
    const why = `${describeTarget(target)} cannot be used: ${whyUnreachable(target, error)}`;
    const detail = error instanceof StartError ? error.message : why;
    return [{ check, status: "problem", detail: `${detail}. Fix this, or set another store` }];
  }
}

/** Tests a store beside the blobs, since a server may be using them. @returns the state of the directory. */
async function tryDirectory(directory: string): Promise<string> {
  // In an existing store: the directory of temporary files, which the store sweeps if this process is killed.
  const trial = await mkdtemp(join(existingParentOf(join(directory, "tmp", "check")), "outrigger-check-"));
  try {
    const store = createFsBlobStore({ directory: trial });
    await tryStorage(store, "trial").finally(() => store.close());
  } finally {
    await rm(trial, { recursive: true, force: true });
  }
  const blobs = join(directory, "blobs");
  // Rejects for a file at this path, too.
  if (existsSync(blobs)) await access(`${blobs}/.`, constants.W_OK | constants.X_OK);
  return existsSync(directory) ? directory : `${directory}, which can be created`;
}

/** The closest directory above a path. */
function existingParentOf(path: string): string {
  const parent = dirname(path);
  return existsSync(parent) ? parent : existingParentOf(parent);
}

/** Whether the stores exist where they must, and belong together. Empty if they do. */
async function checkTogether(targets: StorageTargets, mustExist: boolean): Promise<Finding[]> {
  try {
    if (mustExist) requireDataDirectories([targets.records, targets.originals]);
    if (distinctTargets(targets).length > 1) await inspectTargets(targets, { requireStore: mustExist });
    return [];
  } catch (error) {
    const detail = `${reasonOf(error)}. Mount, name or restore the right stores before anything is repaired`;
    return [{ check: "stores of the roles", status: "problem", detail }];
  }
}

/** Whether the secret of PINs exists, is complete, and cannot be read by other users. */
async function checkSecret({ storage: { records }, secret }: ServerSettings): Promise<Finding> {
  const finding = (status: Finding["status"], detail: string): Finding => ({
    check: "secret",
    status,
    detail,
  });
  if (secret !== undefined) return finding("ok", "set in the configuration");
  if (records.kind === "memory") return finding("ok", "created at each start");
  if (records.kind !== "file")
    return finding("problem", `none is set, and ${describeTarget(records)} cannot keep one. ${SET_SECRET}`);
  const path = join(records.directory, "secret");
  try {
    const isOpen = ((await stat(path)).mode & 0o077) !== 0;
    if (isOpen) return finding("problem", `${path} can be read by other users. Run chmod 600 ${path}`);
    if ((await readFile(path)).length >= SECRET_BYTES) return finding("ok", path);
    return finding("problem", `${path} is too short. Restore it from a backup: another changes all PINs`);
  } catch (error) {
    const isMissing = ["ENOENT", "ENOTDIR"].includes(systemCode(error) ?? "");
    if (isMissing) return finding("ok", "created at the first start");
    return finding("problem", `${path} cannot be read: ${fileReasonOf(error)}`);
  }
}

/** Whether the lookup's database can be used or created. Makes no tables. */
async function checkLookup({ database: target }: LookupSettings): Promise<Finding> {
  const check = "lookup database";
  const place = describeDatabase(target);
  const isMissing = target.kind === "file" && !existsSync(target.path);
  try {
    if (isMissing) {
      // Permissions do not tell: in /proc, no user can create a file.
      await rmdir(await mkdtemp(join(existingParentOf(target.path), ".outrigger-check-")));
      return { check, status: "ok", detail: `${place}, which can be created` };
    }
    const { openDatabase } = await loadPart("lookup", () => import("@outrigger/sql"));
    const database = openDatabase({ url: databaseUrl(target) });
    await database.isMade().finally(() => database.close());
    if (target.kind === "file") await access(target.path, constants.W_OK);
    return { check, status: "ok", detail: place };
  } catch (error) {
    const why = isMissing ? directoryReasonOf(error) : serviceReasonOf(error);
    const detail = `${place} cannot be used: ${why}. Fix this, or set another database in lookup.database`;
    return { check, status: "problem", detail };
  }
}

/** Whether render processes start, and in which sandbox. */
async function checkSandbox(renderer: Renderer): Promise<Finding> {
  const check = "sandbox";
  try {
    await renderer.render({ bytes: PICTURE }, "image/svg+xml", { format: "png" });
  } catch (error) {
    const detail = `the renderer does not work: ${reasonOf(error)}. Reinstall the packages (npm ci), and check the limits under renderer`;
    return { check, status: "problem", detail };
  }
  const { level = "none", failures = [] } = renderer.sandbox ?? {};
  if (level !== "none") return { check, status: "ok", detail: level };
  const reasons = failures.map(({ level: stronger, reason }) => `${stronger} does not work: ${reason}`);
  const detail = ["none but Node's permission model", ...reasons].join("; ");
  const remedy = "Install bubblewrap (apt-get install bubblewrap); see docs/security.md";
  return { check, status: "warning", detail: `${detail}. ${remedy}` };
}

/** Whether text in SVG pictures is rendered. */
async function checkFonts(renderer: Renderer): Promise<Finding> {
  const check = "fonts";
  const { measureFontCoverage } = await import("@outrigger/imaging");
  const { drawnScripts, missingScripts, alikeFamilies } = await measureFontCoverage(renderer);
  if (drawnScripts.length === 0) {
    const detail = `none is installed: text in SVG pictures becomes boxes or disappears. ${FONTS}`;
    return { check, status: "problem", detail };
  }
  const list = new Intl.ListFormat("en");
  const faults = [
    ...(missingScripts.length > 0 ? [`no font covers ${list.format(missingScripts)}`] : []),
    ...(alikeFamilies.length > 0 ? [`${list.format(alikeFamilies)} look the same`] : []),
  ];
  if (faults.length === 0) return { check, status: "ok", detail: list.format(drawnScripts) };
  return { check, status: "warning", detail: `${faults.join("; ")}. ${FONTS}` };
}
