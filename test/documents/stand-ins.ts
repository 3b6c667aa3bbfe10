import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "./pages.ts";

const BIN = join(ROOT, "packages/server/bin/outrigger.js");

/**
 * What stands first on the `PATH` of a guide. `outrigger` is the real command, where a reader at a terminal answers yes, and
 * `npm start` runs it as `package.json` says.
 * `npm install` checks that every package exists, as none is published from here. There is no screen: a screenshot is a file,
 * and so is the clipboard.
 */
const PROGRAMS: Record<string, string> = {
  outrigger: `case "$*" in *--yes*) ;; "images rm"* | *--repair*) set -- "$@" --yes ;; esac
exec "${process.execPath}" "${BIN}" "$@"`,
  npx: `[ "$1" = outrigger ] || { echo "npx $1: nothing stands in for it" >&2; exit 1; }
shift
exec outrigger "$@"`,
  npm: `case "$1" in
  install)
    shift
    for name; do [ -f "${ROOT}node_modules/$name/package.json" ] || { echo "There is no package $name" >&2; exit 1; }; done ;;
  start)
    export OUTRIGGER_DATA="$PWD/data"
    cd "${ROOT}"
    exec sh -c "$(jq -r .scripts.start package.json)" ;;
  *)
    echo "npm $1: nothing stands in for it" >&2
    exit 1 ;;
esac`,
  import: "exec cat red.png",
  flameshot: "exec cat red.png",
  xclip: "exec cat > clipboard",
};

/** Writes the programs into a directory. */
export async function writeStandIns(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  for (const [name, script] of Object.entries(PROGRAMS)) {
    await writeFile(join(directory, name), `#!/bin/bash\n${script}\n`);
    await chmod(join(directory, name), 0o755);
  }
}
