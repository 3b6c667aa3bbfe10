// Conditions for publishing the packages. Each check returns one sentence for each problem.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { problemsOfProject } from "./project.mjs";

/** @returns {string[]} empty when the packages may be published */
export function problemsBeforeRelease(root, project) {
  const problems = problemsOfProject(project);
  const status = execFileSync("git", ["status", "--porcelain"], { cwd: root, encoding: "utf8" }).trim();
  if (status !== "") {
    const lines = status.split("\n");
    problems.push(
      `The work tree has ${lines.length} uncommitted changes, e.g. "${lines[0].trim()}". Commit or stash them.`,
    );
  }
  const pending = readdirSync(join(root, ".changeset")).filter((name) => /^(?!README).*\.md$/.test(name));
  if (pending.length > 0) {
    problems.push(
      `.changeset/ has change files: ${pending.join(", ")}. Run "npm run version" and commit the result.`,
    );
  }
  if (readFileSync(join(root, "SECURITY.md"), "utf8").includes("before the first release")) {
    problems.push("SECURITY.md does not have the security contact. Write it there.");
  }
  return problems;
}
