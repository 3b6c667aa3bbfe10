import type { VisibleFiles } from "./visible-files.ts";

/**
 * The command that runs `program` in a sandbox of bubblewrap: its own namespaces, no capability, and a file system that
 * holds only `files` and cannot be written. There is no `/proc`: it would show nothing that a decoder needs, and a
 * container may refuse to mount it.
 */
export function inBubblewrap(program: readonly string[], { paths, links }: VisibleFiles): string[] {
  return [
    "bwrap",
    ...["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"],
    ...paths.flatMap(({ path, from }) => ["--ro-bind", from, path]),
    ...links.flatMap(({ path, target }) => ["--symlink", target, path]),
    ...["--remount-ro", "/", "--chdir", "/", "--"],
    ...program,
  ];
}
