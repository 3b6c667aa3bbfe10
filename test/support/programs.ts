import { spawn } from "node:child_process";
import { once } from "node:events";
import { buffer, text } from "node:stream/consumers";

/** Paths of programs that are not ours and read what we write: as the test run found them, else where Debian has them. */
export const programs = {
  firefox: process.env.OUTRIGGER_FIREFOX ?? "/usr/bin/firefox-esr",
  webkitDriver: process.env.OUTRIGGER_WEBKIT_DRIVER ?? "/usr/bin/WebKitWebDriver",
  xvfb: process.env.OUTRIGGER_XVFB ?? "/usr/bin/Xvfb",
  convert: process.env.OUTRIGGER_CONVERT ?? "/usr/bin/convert",
  qpdf: process.env.OUTRIGGER_QPDF ?? "/usr/bin/qpdf",
  pdfimages: process.env.OUTRIGGER_PDFIMAGES ?? "/usr/bin/pdfimages",
  pdftoppm: process.env.OUTRIGGER_PDFTOPPM ?? "/usr/bin/pdftoppm",
  rsvgConvert: process.env.OUTRIGGER_RSVG_CONVERT ?? "/usr/bin/rsvg-convert",
  exiftool: process.env.OUTRIGGER_EXIFTOOL ?? "/usr/bin/exiftool",
  fcList: process.env.OUTRIGGER_FC_LIST ?? "/usr/bin/fc-list",
  strace: process.env.OUTRIGGER_STRACE ?? "/usr/bin/strace",
  faketime: process.env.OUTRIGGER_FAKETIME ?? "/usr/bin/faketime",
  mkfsXfs: process.env.OUTRIGGER_MKFS_XFS ?? "/usr/sbin/mkfs.xfs",
  mkfsExt4: process.env.OUTRIGGER_MKFS_EXT4 ?? "/usr/sbin/mkfs.ext4",
  redisServer: process.env.OUTRIGGER_REDIS_SERVER ?? "/usr/bin/redis-server",
  nginx: process.env.OUTRIGGER_NGINX ?? "/usr/sbin/nginx",
  debootstrap: process.env.OUTRIGGER_DEBOOTSTRAP ?? "/usr/sbin/debootstrap",
  bwrap: process.env.OUTRIGGER_BWRAP ?? "/usr/bin/bwrap",
  systemdAnalyze: process.env.OUTRIGGER_SYSTEMD_ANALYZE ?? "/usr/bin/systemd-analyze",
  lighttpd: process.env.OUTRIGGER_LIGHTTPD ?? "/usr/sbin/lighttpd",
  clamd: process.env.OUTRIGGER_CLAMD ?? "/usr/sbin/clamd",
  dnsmasq: process.env.OUTRIGGER_DNSMASQ ?? "/usr/sbin/dnsmasq",
  openssl: process.env.OUTRIGGER_OPENSSL ?? "/usr/bin/openssl",
  pgbouncer: process.env.OUTRIGGER_PGBOUNCER ?? "/usr/sbin/pgbouncer",
  postgres: process.env.OUTRIGGER_POSTGRES ?? "/usr/lib/postgresql/15/bin/postgres",
  radosgw: process.env.OUTRIGGER_RADOSGW ?? "/usr/bin/radosgw",
  /** A python3 that can import psd_tools. */
  psdPython: process.env.OUTRIGGER_PSD_PYTHON ?? "/usr/bin/python3",
};

/** What a program printed and how it ended. */
export interface ProgramResult {
  stdout: Buffer;
  stderr: string;
  /** Exit status; `null` when a signal ended it. */
  status: number | null;
}

/**
 * Runs a program to its end. Rejects when it cannot be started, not when it fails.
 * @param options.input What it reads from its standard input. @default nothing
 */
export async function run(
  program: string,
  args: readonly string[],
  options: { input?: Uint8Array | string } = {},
): Promise<ProgramResult> {
  const child = spawn(program, args, { stdio: "pipe" });
  // A program that has read enough closes its input. Its exit status tells success or failure.
  child.stdin.on("error", () => {});
  child.stdin.end(options.input);
  const [stdout, stderr, [status]] = await Promise.all([
    buffer(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  return { stdout, stderr, status };
}
