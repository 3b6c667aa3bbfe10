import { ENOUGH_OPEN_FILES, openFilesLimit, RAISE_OPEN_FILES } from "../../cli/open-files.ts";
import { type Finding, ok, warning } from "./finding.ts";

/** Whether a server may have enough files and connections open. Absent where the system does not tell. */
export function checkOpenFiles(limit: number | null = openFilesLimit()): Finding[] {
  if (limit === null) return [];
  const detail = limit === Number.POSITIVE_INFINITY ? "unlimited" : `at most ${limit}`;
  if (limit >= ENOUGH_OPEN_FILES) return [ok("open files", detail)];
  return [
    warning(
      "open files",
      `${detail}: every connection and every picture that is read takes one`,
      RAISE_OPEN_FILES,
    ),
  ];
}
