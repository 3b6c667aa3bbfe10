import { readOwnPackage } from "../../cli/own-package.ts";
import { type Finding, ok, problem } from "./finding.ts";

/** Whether this Node is one that we are made for. @param version `major.minor.patch` */
export function checkNode(version: string = process.versions.node): Finding {
  const needed = readOwnPackage().engines.node.replace(">=", "");
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [neededMajor = 0, neededMinor = 0] = needed.split(".").map(Number);
  const isNewEnough = major > neededMajor || (major === neededMajor && minor >= neededMinor);
  const detail = `${version} (${needed} or newer is needed)`;
  return isNewEnough ? ok("Node.js", detail) : problem("Node.js", detail, "Install a newer one");
}
