import { ENOUGH_OPEN_FILES, openFilesLimit, RAISE_OPEN_FILES } from "../../cli/open-files.ts";
import { readOwnPackage } from "../../cli/own-package.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

/** Whether this version of Node is supported. @param version `major.minor.patch` */
export function checkNode(version: string = process.versions.node): Finding {
  const needed = readOwnPackage().engines.node.replace(">=", "");
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [neededMajor = 0, neededMinor = 0] = needed.split(".").map(Number);
  const isNewEnough = major > neededMajor || (major === neededMajor && minor >= neededMinor);
  const detail = `${version} (${needed} or newer is needed)`;
  return isNewEnough ? ok("Node.js", detail) : problem("Node.js", detail, "Install a newer version");
}

/** Whether the limit of open files is high enough for a server. Empty if the limit is unknown. */
export function checkOpenFiles(limit: number | null = openFilesLimit()): Finding[] {
  if (limit === null) return [];
  const detail = limit === Number.POSITIVE_INFINITY ? "unlimited" : `at most ${limit}`;
  if (limit >= ENOUGH_OPEN_FILES) return [ok("open files", detail)];
  return [
    warning(
      "open files",
      `${detail}: every connection and every picture being read needs one`,
      RAISE_OPEN_FILES,
    ),
  ];
}
