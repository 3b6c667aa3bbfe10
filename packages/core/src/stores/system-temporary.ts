import { lstatSync, mkdtempSync, readdirSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isServiceError, ServiceError } from "../errors.ts";
import { storeError, systemCode } from "./fs/fs-errors.ts";
import { isAbandoned, processName, SIGN_OF_LIFE_MS } from "./fs/fs-processes.ts";

const PREFIX = "outrigger-";
/** Behind the prefix: the process, and six characters by which the name cannot be taken in advance. */
const NAME = /^outrigger-([0-9a-f]{12}\.\d+\.\d+)\.[A-Za-z0-9]{6}$/;
/** Mode bits: others may write there, and only the owner of a file may remove it. */
const WRITABLE_BY_OTHERS = 0o022;
const STICKY = 0o1000;

let own: string | null = null;

/**
 * This process' directory below the system's for temporary files, for this user alone. Made when it is first asked for,
 * removed when the process exits; after a kill the next process on the machine removes it.
 * @throws ServiceError `no_space` or `store_unavailable` where it cannot be made.
 */
export function systemTemporaryDirectory(): string {
  // A cleaner of the system's may have removed it.
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
    setInterval(showLife, SIGN_OF_LIFE_MS).unref();
    process.once("exit", () => {
      if (own !== null && isOurDirectory(own)) rmSync(own, { recursive: true, force: true });
    });
  }
  return own;
}

/**
 * Removes the directories that killed processes of this user left. Never follows a symbolic link, and touches nothing where
 * another user could exchange a directory while it is removed.
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

/** Another process does the same, or the disk is in the way: the next one tries again. */
function ignoringSystemErrors(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
  }
}

/** Whether a path is a directory of this user, and no link to one. */
function isOurDirectory(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats?.isDirectory() === true && (process.getuid === undefined || stats.uid === process.getuid());
}

/** For processes in other containers, which cannot see this one. */
function showLife(): void {
  ignoringSystemErrors(() => {
    const now = new Date();
    if (own !== null && isOurDirectory(own)) utimesSync(own, now, now);
  });
}
