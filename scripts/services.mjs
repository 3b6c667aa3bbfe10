// The programs that tests talk to, or read our output with. What is missing is installed where that is possible; what then
// still is missing is named with the reason, and the tests that need it fail. Run as a command, it prints the result as JSON.
import { spawnSync } from "node:child_process";
import { accessSync, constants, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Name, variable that passes the program's path to the tests (a value set by hand wins), commands, Debian packages. */
const SERVICES = [
  ["Chromium", "CHROMIUM", "chromium chromium-browser google-chrome-stable google-chrome", "chromium"],
  ["Firefox", "FIREFOX", "firefox-esr firefox", "firefox-esr"],
  // It starts the browser of its own package, which has no mode without a screen.
  ["WebKitWebDriver", "WEBKIT_DRIVER", "WebKitWebDriver", "webkit2gtk-driver"],
  ["Xvfb", "XVFB", "Xvfb", "xvfb"],
  ["ImageMagick", "CONVERT", "convert-im6.q16 convert-im6 convert", "imagemagick"],
  ["psd-tools", "PSD_PYTHON", "python3", "python3-psd-tools"],
  ["fonts", "FC_LIST", "fc-list", "fontconfig fonts-dejavu-core"],
  // Without a probe: a kernel that refuses its namespaces is no failure.
  ["bubblewrap", "BWRAP", "bwrap", "bubblewrap"],
  ["qpdf", "QPDF", "qpdf", "qpdf"],
  ["pdftoppm", "PDFTOPPM", "pdftoppm", "poppler-utils"],
  ["rsvg-convert", "RSVG_CONVERT", "rsvg-convert", "librsvg2-bin"],
  ["ExifTool", "EXIFTOOL", "exiftool", "libimage-exiftool-perl"],
  ["strace", "STRACE", "strace", "strace"],
  ["faketime", "FAKETIME", "faketime", "faketime"],
  ["mkfs.xfs", "MKFS_XFS", "mkfs.xfs", "xfsprogs"],
  ["mkfs.ext4", "MKFS_EXT4", "mkfs.ext4", "e2fsprogs"],
  ["Redis", "REDIS_SERVER", "redis-server", "redis-server"],
  // With initdb and psql, found beside it.
  ["PostgreSQL", "POSTGRES", "postgres", "postgresql"],
  ["PgBouncer", "PGBOUNCER", "pgbouncer", "pgbouncer"],
  ["OpenSSL", "OPENSSL", "openssl", "openssl"],
  // With its monitor and its disk daemon, found beside it.
  ["Ceph object gateway", "RADOSGW", "radosgw", "radosgw ceph-mon ceph-osd"],
  ["nginx", "NGINX", "nginx", "nginx-light"],
  ["debootstrap", "DEBOOTSTRAP", "debootstrap", "debootstrap"],
  ["systemd", "SYSTEMD_ANALYZE", "systemd-analyze", "systemd"],
  ["lighttpd", "LIGHTTPD", "lighttpd", "lighttpd"],
  ["ClamAV", "CLAMD", "clamd", "clamav-daemon"],
  ["dnsmasq", "DNSMASQ", "dnsmasq", "dnsmasq-base"],
].map(([name, suffix, commands, packages]) => ({
  ...{ name, variable: `OUTRIGGER_${suffix}` },
  ...{ commands: commands.split(" "), debianPackages: packages.split(" ") },
}));

/**
 * A program counts only if it exits with 0 for these arguments and its output matches: other programs may have the same name, or
 * lack a feature.
 */
const PROBES = {
  ImageMagick: { args: ["-version"], says: /ImageMagick/ },
  "psd-tools": { args: ["-c", "import psd_tools; print(psd_tools.PSDImage)"], says: /PSDImage/ },
  // Those with the letter A.
  fonts: { args: [":charset=41"], says: /\S/ },
  // It prints the path of its library, which the tests use.
  faketime: { args: ["2020-01-01", "printenv", "LD_PRELOAD"], says: /libfaketime/ },
};

/** Directories that are searched after the PATH. Debian installs each version of PostgreSQL into a separate one. */
const DIRECTORIES = [
  "/usr/sbin",
  ...versionsIn("/usr/lib/postgresql").map((version) => join("/usr/lib/postgresql", version, "bin")),
];

/** Debian packages of all programs, sorted. */
export const DEBIAN_PACKAGES = SERVICES.flatMap(({ debianPackages }) => debianPackages).sort();

/** A longer probe counts as failed. */
const PROBE_MS = 20_000;

/**
 * @returns {{ environment: Record<string, string>, missing: { name: string, reason: string }[] }} Variables for the
 * tests, and the missing programs.
 */
export function ensureServices() {
  const paths = new Map(SERVICES.map((service) => [service, locate(service)]));
  const wanted = SERVICES.filter((service) => paths.get(service) === null);
  const reason = wanted.length === 0 ? null : install(wanted.flatMap((service) => service.debianPackages));
  for (const service of wanted) paths.set(service, locate(service));
  const environment = {};
  const missing = [];
  for (const [{ name, variable }, path] of paths) {
    if (path !== null) environment[variable] = path;
    else missing.push({ name, reason: `not on the PATH, and ${reason ?? "not in its package"}` });
  }
  return { environment, missing };
}

function locate({ name, variable, commands }) {
  const named = process.env[variable];
  if (named) return named;
  const directories = [...(process.env.PATH ?? "").split(delimiter).filter(Boolean), ...DIRECTORIES];
  const paths = commands.flatMap((command) => directories.map((directory) => join(directory, command)));
  return paths.find((path) => isProgram(path) && passes(path, PROBES[name])) ?? null;
}

/** Names of directories that are numbers, the highest first. */
function versionsIn(directory) {
  try {
    return readdirSync(directory)
      .filter((name) => /^\d+$/.test(name))
      .sort((a, b) => Number(b) - Number(a));
  } catch {
    // No version is installed there.
    return [];
  }
}

function passes(path, probe) {
  if (probe === undefined) return true;
  const { status, stdout } = spawnSync(path, probe.args, { encoding: "utf8", timeout: PROBE_MS });
  return status === 0 && probe.says.test(stdout);
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    // Missing, or not executable for us.
    return false;
  }
}

/** @returns why it could not be installed, or `null` on success. */
function install(packages) {
  if (process.getuid?.() !== 0) return "only root can install it";
  if (locate({ commands: ["apt-get"] }) === null) return "there is no apt-get to install it with";
  console.error(`Installing ${packages.join(", ")}`);
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

/**
 * Server packages start their servers on installation, unless this file forbids it. The tests start their own
 * instances.
 */
function forbidServices() {
  const policy = "/usr/sbin/policy-rc.d";
  try {
    writeFileSync(policy, "#!/bin/sh\nexit 101\n", { flag: "wx", mode: 0o755 });
  } catch (error) {
    // The machine already has a policy, which stays.
    if (error.code === "EEXIST") return () => {};
    throw error;
  }
  return () => rmSync(policy);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(JSON.stringify(ensureServices()));
