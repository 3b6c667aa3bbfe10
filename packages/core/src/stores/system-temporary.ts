import { lstatSync, mkdtempSync, readdirSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isServiceError, ServiceError } from "../errors.ts";
import { storeError, systemCode } from "./fs/fs-files.ts";
import { HEARTBEAT_MS, isAbandoned, processName } from "./fs/fs-temporary.ts";

const PREFIX = "outrigger-";
/** After the prefix: the process, and six random characters so that no user can take the name in advance. */
const NAME = /^outrigger-([0-9a-f]{12}\.\d+\.\d+)\.[A-Za-z0-9]{6}$/;
/** Mode bits: group or others may write to a directory. */
const WRITABLE_BY_OTHERS = 0o022;
/** Mode bit: only the owner of a file may delete it. */
const STICKY = 0o1000;

let own: string | null = null;

/**
 * This process's directory below the system's temporary directory, accessible to this user only. Created at
 * the first call, deleted when the process exits. After a kill, the next process on the machine deletes it.
 * @throws ServiceError `no_space` or `store_unavailable` if it cannot be created.
 */
export function systemTemporaryDirectory(): string {
  // A system cleaner may have deleted it.
  if (own !== null && isOurDirectory(own)) return own;
  const isFirst = own === null;
  sweepSystemTemporary();
  try {
    own = mkdtempSync(join(tmpdir(), `${PREFIX}${processName()}.`));
  } catch (error) {
    const known = storeError(error);
    if (!isServiceError(known)) throw error;
    const message = `The system's temporary directory cannot be used (${systemCode(error)})`;
    throw new ServiceError(known.code, message, { cause: error });
  }
  if (isFirst) {
    setInterval(showLife, HEARTBEAT_MS).unref();
    process.once("exit", () => {
      if (own !== null && isOurDirectory(own)) rmSync(own, { recursive: true, force: true });
    });
  }
  return own;
}

/**
 * Deletes the directories left by killed processes of this user. Never follows a symbolic link, and skips
 * places where another user could exchange a directory during its removal.
 */
export function sweepSystemTemporary(): void {
  const parent = tmpdir();
  ignoringSystemErrors(() => {
    const { mode } = lstatSync(parent);
    if ((mode & WRITABLE_BY_OTHERS) !== 0 && (mode & STICKY) === 0) return;
    for (const name of readdirSync(parent)) ignoringSystemErrors(() => removeAbandoned(parent, name));
  });
}

function removeAbandoned(parent: string, name: string): void {
  const owner = NAME.exec(name)?.[1];
  const path = join(parent, name);
  if (owner === undefined || !isOurDirectory(path) || !isAbandoned(owner, path)) return;
  rmSync(path, { recursive: true, force: true });
}

/** Ignores a simultaneous sweep by another process and disk errors: the next sweep tries again. */
function ignoringSystemErrors(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
  }
}

/** Whether a path is a directory of this user, and not a link. */
function isOurDirectory(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats?.isDirectory() === true && (process.getuid === undefined || stats.uid === process.getuid());
}

/** Shows processes in other containers, which cannot see this one, that it is alive. */
function showLife(): void {
  ignoringSystemErrors(() => {
    const now = new Date();
    if (own !== null && isOurDirectory(own)) utimesSync(own, now, now);
  });
}
