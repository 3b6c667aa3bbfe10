import { accessReason, isError } from "@outrigger/core/values";

/** The innermost cause of an error. */
interface Reason {
  /** First line of its message. */
  message: string;
  /** Code of the failed system call, e.g. `EACCES`. */
  code?: unknown;
  /** Name of the failed system call, e.g. `mkdir`. */
  syscall?: unknown;
}

const CLAUSES: Readonly<Record<string, string>> = {
  EEXIST: "it is not a directory",
  ENOTDIR: "it is not a directory",
  EACCES: "this user may not write there",
  EPERM: "this user may not write there",
  ENOENT: "its file system does not allow directories to be created",
  EROFS: "its file system is read-only",
  ENOSPC: "there is no space left",
  EMFILE: "this process may not open more files (ulimit -n)",
};

/** Of a file that a person named. */
const FILE_CLAUSES: Readonly<Record<string, string>> = {
  ...CLAUSES,
  ENOENT: "there is no such file or directory",
  EEXIST: "it already exists",
  ENOTDIR: "a part of its path is not a directory",
  EISDIR: "it is a directory",
  EACCES: "this user has no access to it",
  EPERM: "this user has no access to it",
  ENAMETOOLONG: "its name is too long",
  ELOOP: "its path has a loop of symbolic links",
};

/** Errors of link(2) on a file system without hard links, such as FAT. */
const NO_HARD_LINKS = ["EPERM", "ENOTSUP", "ENOSYS"];

/** The message of the innermost cause, in one line. */
export function reasonOf(error: unknown): string {
  return innermost(error).message;
}

/** Why a directory cannot be used, as a clause without a full stop. */
export function directoryReasonOf(error: unknown): string {
  const { message, code, syscall } = innermost(error);
  if (syscall === "link" && NO_HARD_LINKS.includes(String(code))) return "its file system has no hard links";
  return CLAUSES[String(code)] ?? message;
}

/** Why a named file cannot be read or written, as a clause without a full stop. */
export function fileReasonOf(error: unknown): string {
  const { message, code } = innermost(error);
  return FILE_CLAUSES[String(code)] ?? message;
}

/** Why a store or database cannot be used, as a clause without a full stop: the message of its adapter and the innermost cause. */
export function serviceReasonOf(error: unknown): string {
  const reason = withoutStop(reasonOf(error));
  // By its name: the services, which take long to load, are not needed for that.
  if (!isError(error) || error.name !== "ServiceError") return reason;
  const said = withoutStop(error.message);
  // A reason of one word is only a code.
  return said === reason || !reason.includes(" ") ? said : `${said} (${reason})`;
}

function withoutStop(text: string): string {
  return text.replace(/\.$/, "");
}

function innermost(error: unknown): Reason {
  if (!isError(error)) return { message: String(error) };
  if (isError(error.cause)) return innermost(error.cause);
  const [message = ""] = error.message.split("\n");
  return { ...error, message: accessReason(error) ?? message };
}
