import type { VisibleFiles } from "./visible-files.ts";

/**
 * Options of Node that let JavaScript read only `files`, write nothing, and start no process. Native code, such as
 * sharp's, is not bound by them.
 */
export function permissionOptions({ paths }: VisibleFiles): string[] {
  const known = process.allowedNodeEnvironmentFlags;
  return [
    known.has("--permission") ? "--permission" : "--experimental-permission",
    ...(known.has("--allow-addons") ? ["--allow-addons"] : []),
    ...paths.map(({ path, isDirectory }) => `--allow-fs-read=${isDirectory ? `${path}/*` : path}`),
  ];
}
