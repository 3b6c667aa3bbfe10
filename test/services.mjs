// The programs that tests talk to. What is missing is installed where that is possible; what then still is missing is
// named with the reason, and the tests that need it are skipped.
import { spawnSync } from "node:child_process";
import { accessSync, constants, rmSync, statSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";

/** `variable` tells the tests where the program is; set by hand, it wins. */
const SERVICES = [
  {
    name: "Chromium",
    variable: "OUTRIGGER_CHROMIUM",
    commands: ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"],
    debianPackage: "chromium",
  },
];

/**
 * @returns {{ environment: Record<string, string>, missing: { name: string, reason: string }[] }} Variables for the
 * tests, and what could not be had.
 */
export function ensureServices() {
  const wanted = SERVICES.filter((service) => locate(service) === null).map(
    ({ debianPackage }) => debianPackage,
  );
  const reason = wanted.length === 0 ? null : install(wanted);
  const environment = {};
  const missing = [];
  for (const service of SERVICES) {
    const path = locate(service);
    if (path !== null) environment[service.variable] = path;
    else
      missing.push({ name: service.name, reason: `not on the PATH, and ${reason ?? "not in its package"}` });
  }
  return { environment, missing };
}

function locate({ variable, commands }) {
  const named = process.env[variable];
  if (named) return named;
  const directories = (process.env.PATH ?? "").split(delimiter).filter(Boolean);
  const paths = commands.flatMap((command) => directories.map((directory) => join(directory, command)));
  return paths.find(isProgram) ?? null;
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    // Not there, or not for us.
    return false;
  }
}

/** @returns why it could not be installed, or `null` when it was. */
function install(packages) {
  if (process.getuid?.() !== 0) return "only root can install it";
  if (locate({ commands: ["apt-get"] }) === null) return "there is no apt-get to install it with";
  console.log(`Installing ${packages.join(", ")}`);
  const allowServices = forbidServices();
  try {
    for (const args of [
      ["update", "-qq"],
      ["install", "-y", "-qq", "--no-install-recommends", "-o", "Dpkg::Use-Pty=0", ...packages],
    ]) {
      const result = spawnSync("apt-get", args, {
        encoding: "utf8",
        env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
      });
      if (result.status !== 0) {
        const said = (result.stderr ?? "").trim().split("\n").at(-1);
        return `apt-get ${args[0]} failed: ${said || (result.error?.message ?? `status ${result.status}`)}`;
      }
    }
    return null;
  } finally {
    allowServices();
  }
}

/** Packages of servers start them when installed, unless this file says no. The tests start instances of their own. */
function forbidServices() {
  const policy = "/usr/sbin/policy-rc.d";
  try {
    writeFileSync(policy, "#!/bin/sh\nexit 101\n", { flag: "wx", mode: 0o755 });
  } catch (error) {
    // The machine has a policy already: that one stays.
    if (error.code === "EEXIST") return () => {};
    throw error;
  }
  return () => rmSync(policy);
}
