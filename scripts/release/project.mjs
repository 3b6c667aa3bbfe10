// The values that only the project's owner can choose. project.json is their only place. Set before publishing.
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Path from the root of the checkout. */
const PROJECT_FILE = "scripts/release/project.json";

const RULES = {
  repository: {
    shape: "the https URL of the Git repository, without credentials and without .git",
    isValid: (value) => isUrl(value, /^https:.*(?<!\.git|\/)$/),
  },
  homepage: { shape: "an http(s) URL without credentials", isValid: (value) => isUrl(value, /^https?:/) },
};

/** @returns {{ repository: string | null, homepage: string | null }} */
export function readProject(root) {
  const { repository, homepage } = JSON.parse(readFileSync(join(root, PROJECT_FILE), "utf8"));
  return { repository, homepage };
}

/** One sentence for each value that is missing or malformed. */
export function problemsOfProject(project) {
  return Object.entries(RULES).flatMap(([name, { shape, isValid }]) => {
    const value = project[name] ?? null;
    if (value === null) return [`${PROJECT_FILE}: "${name}" is not set. Set it to ${shape}.`];
    if (isValid(value)) return [];
    return [`${PROJECT_FILE}: "${name}" must be ${shape}, got ${JSON.stringify(value)}.`];
  });
}

/**
 * The fields of a package's manifest that come from the project. Values that are not set are absent.
 * @param directory of the package, from the root of the checkout
 */
export function manifestFields({ repository, homepage }, directory) {
  return {
    ...(homepage && { homepage }),
    ...(repository && {
      bugs: { url: `${repository}/issues` },
      repository: { type: "git", url: `git+${repository}.git`, directory },
    }),
  };
}

function isUrl(value, pattern) {
  if (typeof value !== "string" || !URL.canParse(value)) return false;
  const { username, password } = new URL(value);
  return pattern.test(value) && username === "" && password === "";
}
