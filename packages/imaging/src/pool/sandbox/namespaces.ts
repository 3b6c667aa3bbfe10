import type { VisibleFiles } from "./visible-files.ts";

const UNSHARED = ["--user", "--map-root-user", "--mount", "--pid", "--net", "--ipc", "--uts"];

/**
 * Builds a file system that holds only the given files, makes it the root, drops the old root and all capabilities, and
 * runs the program. It is built on /sys, where no file of the host is needed. `umount` finds mounts through /proc,
 * which leads nowhere once the old root is gone. The shell stays as the first process of its namespace, because the
 * kernel ignores signals that a first process sends to itself.
 */
const SCRIPT = `
set -e
PATH="/usr/sbin:/usr/bin:/sbin:/bin:$PATH"
setpriv=$(command -v setpriv)
umount=$(command -v umount)
readonly=bind,ro,nosuid,nodev
mount -t tmpfs -o mode=0755,size=1m sandbox /sys
cd /sys
mkdir old
ln -s old/proc proc
while [ "$1" != -- ]; do
  kind=$1 from=$2 path=$3
  shift 3
  mkdir -p ".\${path%/*}"
  case $kind in
    link) ln -s "$from" ".$path" ;;
    directory) mkdir -p ".$path"; mount -o $readonly "$from" ".$path" ;;
    file) : > ".$path"; mount -o $readonly "$from" ".$path" ;;
  esac
done
shift
: > setpriv
mount -o $readonly "$setpriv" setpriv
mount -o remount,ro,nosuid,nodev,mode=0755,size=1m sandbox /sys
pivot_root . old
cd /
"/old$umount" -l /old
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
