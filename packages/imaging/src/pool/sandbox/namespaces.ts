import type { VisibleFiles } from "./visible-files.ts";

const UNSHARED = ["--user", "--map-root-user", "--mount", "--pid", "--net", "--ipc", "--uts"];

/**
 * Builds a file system that holds only the given files, makes it the root, drops the old root and all capabilities, and
 * runs the program. It is built on /sys, where no file of the host is needed. All files and directories are created before
 * the first mount, and never over an existing one (`-C`), so none can be a link to a file of the host. `umount` finds mounts
 * through /proc, which leads nowhere once the old root is gone. The shell stays as the first process of its namespace,
 * because the kernel ignores signals that a first process sends to itself.
 */
const SCRIPT = `
set -eC
PATH="/usr/sbin:/usr/bin:/sbin:/bin:$PATH"
setpriv=$(command -v setpriv)
umount=$(command -v umount)
each() {
  step=$1
  shift
  while [ "$1" != -- ]; do
    $step "$1" "$2" "$3"
    shift 3
  done
}
create() {
  mkdir -p ".\${3%/*}"
  case $1 in
    directory) mkdir -p ".$3" ;;
    file) : > ".$3" ;;
    link) ln -s "$2" ".$3" ;;
  esac
}
show() {
  [ "$1" = link ] || mount -o bind,ro,nosuid,nodev "$2" ".$3"
}
mount -t tmpfs -o mode=0755,size=1m sandbox /sys
cd /sys
mkdir old
ln -s old/proc proc
: > setpriv
each create "$@"
each show "$@"
show file "$setpriv" /setpriv
mount -o remount,ro,nosuid,nodev,mode=0755,size=1m sandbox /sys
pivot_root . old
cd /
"/old$umount" -l /old
while [ "$1" != -- ]; do shift 3; done
shift
/setpriv --no-new-privs --bounding-set=-all --inh-caps=-all --ambient-caps=-all "$@"
exit $?
`;

/** The command that runs `program` in namespaces of its own, without bubblewrap. It needs util-linux 2.33. */
export function inNamespaces(program: readonly string[], { paths, links }: VisibleFiles): string[] {
  return [
    // unshare itself does not end with its parent.
    ...["setpriv", "--pdeathsig", "KILL"],
    ...["unshare", ...UNSHARED, "--fork", "--kill-child", "/bin/sh", "-c", SCRIPT, "sandbox"],
    ...paths.flatMap(({ path, from, isDirectory }) => [isDirectory ? "directory" : "file", from, path]),
    ...links.flatMap(({ path, target }) => ["link", target, path]),
    "--",
    ...program,
  ];
}
