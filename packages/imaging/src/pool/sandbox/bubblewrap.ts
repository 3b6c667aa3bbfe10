import type { VisibleFiles } from "./visible-files.ts";

/** The descriptor from which bubblewrap reads the filter of system calls. */
export const FILTER_DESCRIPTOR = 4;

/**
 * The command that runs `program` in a sandbox of bubblewrap: its own namespaces, no capability, and a file system that
 * holds only `files` and cannot be written. There is no `/proc`: it would show nothing that a decoder needs, and a
 * container may refuse to mount it.
 */
export function inBubblewrap(
  program: readonly string[],
  { paths, links }: VisibleFiles,
  isFiltered = false,
): string[] {
  return [
    "bwrap",
    ...(isFiltered ? ["--seccomp", String(FILTER_DESCRIPTOR)] : []),
    ...["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"],
    ...paths.flatMap(({ path, from }) => ["--ro-bind", from, path]),
    ...links.flatMap(({ path, target }) => ["--symlink", target, path]),
    ...["--remount-ro", "/", "--chdir", "/", "--"],
    ...program,
  ];
}
