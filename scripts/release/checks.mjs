// Conditions for publishing the packages. Each check returns one sentence for each problem.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { publicPackages, readJson } from "./packages.mjs";
import { problemsOfProject } from "./project.mjs";
import { hasSecurityContact } from "./security-contact.mjs";

/** @returns {string[]} empty when the packages may be published */
export function problemsBeforeRelease(root, project) {
  return [
    ...problemsOfProject(project),
    ...problemsOfNode(root),
    ...problemsOfTree(root),
    ...problemsOfVersions(root),
    ...problemsOfSecurityFile(root, project),
  ];
}

function problemsOfNode(root) {
  const [floor] = /\d+\.\d+/.exec(readJson(join(root, "package.json")).engines.node);
  const [wantedMajor, wantedMinor] = floor.split(".").map(Number);
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > wantedMajor || (major === wantedMajor && minor >= wantedMinor)) return [];
  return [`A release needs Node ${floor} or newer, this is ${process.version}. Install a newer Node.`];
}

function problemsOfTree(root) {
  const status = execFileSync("git", ["status", "--porcelain"], { cwd: root, encoding: "utf8" }).trim();
  if (status === "") return [];
  const lines = status.split("\n");
  return [
    `The work tree has ${lines.length} uncommitted changes, e.g. "${lines[0].trim()}". Commit or stash them.`,
  ];
}

function problemsOfVersions(root) {
  const problems = [];
  const pending = readdirSync(join(root, ".changeset")).filter(
    (name) => name.endsWith(".md") && name !== "README.md",
  );
  if (pending.length > 0) {
    problems.push(
      `.changeset/ has change files: ${pending.join(", ")}. Run "npm run version" and commit the result.`,
    );
  }
  const packages = publicPackages(root);
  const versions = [...new Set(packages.map(({ manifest }) => manifest.version))];
  if (versions.length > 1) {
    problems.push(`The packages have several versions: ${versions.join(", ")}. Give all the same one.`);
  }
  for (const { directory, manifest } of packages) {
    const file = `${directory}/CHANGELOG.md`;
    const text = existsSync(join(root, file)) ? readFileSync(join(root, file), "utf8") : "";
    if (!text.split("\n").includes(`## ${manifest.version}`)) {
      problems.push(`${file} has no section "## ${manifest.version}". Write one.`);
    }
  }
  return problems;
}

function problemsOfSecurityFile(root, project) {
  // Reported already.
  if ((project.securityContact ?? null) === null || hasSecurityContact(root, project)) return [];
  return ['SECURITY.md does not have the security contact. Run "npm run version" and commit the result.'];
}
