// The programs that tests talk to, or read our output with. What is missing is installed where that is possible; what then
// still is missing is named with the reason, and the tests that need it fail. Run as a command, it prints the result as JSON.
import { spawnSync } from "node:child_process";
import { accessSync, constants, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * `variable` passes a program's path to the tests; a value set by hand wins. A program with a `probe` counts only if it
 * exits with 0 for these arguments and its output matches `says`: other programs may have the same name, or lack a
 * feature.
 */
const SERVICES = [
  {
    name: "Chromium",
    variable: "OUTRIGGER_CHROMIUM",
    commands: ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"],
    debianPackages: ["chromium"],
  },
  {
    name: "Firefox",
    variable: "OUTRIGGER_FIREFOX",
    commands: ["firefox-esr", "firefox"],
    debianPackages: ["firefox-esr"],
  },
  {
    // It starts the browser of its own package.
    name: "WebKitWebDriver",
    variable: "OUTRIGGER_WEBKIT_DRIVER",
    commands: ["WebKitWebDriver"],
    debianPackages: ["webkit2gtk-driver"],
  },
  {
    // WebKitGTK has no mode without a screen.
    name: "Xvfb",
    variable: "OUTRIGGER_XVFB",
    commands: ["Xvfb"],
    debianPackages: ["xvfb"],
  },
  {
    name: "ImageMagick",
    variable: "OUTRIGGER_CONVERT",
    commands: ["convert-im6.q16", "convert-im6", "convert"],
    probe: { args: ["-version"], says: /ImageMagick/ },
    debianPackages: ["imagemagick"],
  },
  {
    name: "psd-tools",
    variable: "OUTRIGGER_PSD_PYTHON",
    commands: ["python3"],
    probe: { args: ["-c", "import psd_tools; print(psd_tools.PSDImage)"], says: /PSDImage/ },
    debianPackages: ["python3-psd-tools"],
  },
  {
    name: "fonts",
    variable: "OUTRIGGER_FC_LIST",
    commands: ["fc-list"],
    // Those with the letter A.
    probe: { args: [":charset=41"], says: /\S/ },
    debianPackages: ["fontconfig", "fonts-dejavu-core"],
  },
  {
    // Without a probe: a kernel that refuses its namespaces is no failure.
    name: "bubblewrap",
    variable: "OUTRIGGER_BWRAP",
    commands: ["bwrap"],
    debianPackages: ["bubblewrap"],
  },
  { name: "qpdf", variable: "OUTRIGGER_QPDF", commands: ["qpdf"], debianPackages: ["qpdf"] },
  {
    name: "pdftoppm",
    variable: "OUTRIGGER_PDFTOPPM",
    commands: ["pdftoppm"],
    debianPackages: ["poppler-utils"],
  },
  {
    name: "rsvg-convert",
    variable: "OUTRIGGER_RSVG_CONVERT",
    commands: ["rsvg-convert"],
    debianPackages: ["librsvg2-bin"],
  },
  {
    name: "ExifTool",
    variable: "OUTRIGGER_EXIFTOOL",
    commands: ["exiftool"],
    debianPackages: ["libimage-exiftool-perl"],
  },
  { name: "strace", variable: "OUTRIGGER_STRACE", commands: ["strace"], debianPackages: ["strace"] },
  { name: "rsync", variable: "OUTRIGGER_RSYNC", commands: ["rsync"], debianPackages: ["rsync"] },
  {
    name: "faketime",
    variable: "OUTRIGGER_FAKETIME",
    commands: ["faketime"],
    // It prints the path of its library, which the tests use.
    probe: { args: ["2020-01-01", "printenv", "LD_PRELOAD"], says: /libfaketime/ },
    debianPackages: ["faketime"],
  },
  { name: "mkfs.xfs", variable: "OUTRIGGER_MKFS_XFS", commands: ["mkfs.xfs"], debianPackages: ["xfsprogs"] },
  {
    name: "mkfs.ext4",
    variable: "OUTRIGGER_MKFS_EXT4",
    commands: ["mkfs.ext4"],
    debianPackages: ["e2fsprogs"],
  },
  {
    name: "Redis",
    variable: "OUTRIGGER_REDIS_SERVER",
    commands: ["redis-server"],
    debianPackages: ["redis-server"],
  },
  {
    name: "PostgreSQL",
    variable: "OUTRIGGER_POSTGRES",
    // With initdb and psql, found beside it.
    commands: ["postgres"],
    // Debian installs each version's programs into a separate directory.
    directories: () =>
      versionsIn("/usr/lib/postgresql").map((version) => join("/usr/lib/postgresql", version, "bin")),
    debianPackages: ["postgresql"],
  },
  {
    name: "PgBouncer",
    variable: "OUTRIGGER_PGBOUNCER",
    commands: ["pgbouncer"],
    directories: () => ["/usr/sbin"],
    debianPackages: ["pgbouncer"],
  },
  { name: "OpenSSL", variable: "OUTRIGGER_OPENSSL", commands: ["openssl"], debianPackages: ["openssl"] },
  {
    name: "Ceph object gateway",
    variable: "OUTRIGGER_RADOSGW",
    // With its monitor and its disk daemon, found beside it.
    commands: ["radosgw"],
    debianPackages: ["radosgw", "ceph-mon", "ceph-osd"],
  },
  {
    name: "nginx",
    variable: "OUTRIGGER_NGINX",
    commands: ["nginx"],
    directories: () => ["/usr/sbin"],
    debianPackages: ["nginx-light"],
  },
  {
    name: "debootstrap",
    variable: "OUTRIGGER_DEBOOTSTRAP",
    commands: ["debootstrap"],
    directories: () => ["/usr/sbin"],
    debianPackages: ["debootstrap"],
  },
  {
    name: "systemd",
    variable: "OUTRIGGER_SYSTEMD_ANALYZE",
    commands: ["systemd-analyze"],
    debianPackages: ["systemd"],
  },
  {
    name: "lighttpd",
    variable: "OUTRIGGER_LIGHTTPD",
    commands: ["lighttpd"],
    directories: () => ["/usr/sbin"],
    debianPackages: ["lighttpd"],
  },
  {
    name: "ClamAV",
    variable: "OUTRIGGER_CLAMD",
    commands: ["clamd"],
    directories: () => ["/usr/sbin"],
    debianPackages: ["clamav-daemon"],
  },
  { name: "dnsmasq", variable: "OUTRIGGER_DNSMASQ", commands: ["dnsmasq"], debianPackages: ["dnsmasq-base"] },
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

function locate({ variable, commands, probe, directories: others = () => [] }) {
  const named = process.env[variable];
  if (named) return named;
  const directories = [...(process.env.PATH ?? "").split(delimiter).filter(Boolean), ...others()];
  const paths = commands.flatMap((command) => directories.map((directory) => join(directory, command)));
  return paths.find((path) => isProgram(path) && passes(path, probe)) ?? null;
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
