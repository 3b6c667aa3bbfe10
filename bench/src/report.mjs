import { statfs } from "node:fs/promises";
import { cpus, release, tmpdir, totalmem } from "node:os";
import { median, pairRatios } from "./statistics.mjs";
import { formatColumns } from "./table.mjs";

/**
 * The target of a ratio.
 * @typedef {{ atMost: number } | { below: number }} Aim
 */

/**
 * A line of the table.
 * @typedef {object} Line
 * @property {string} what
 * @property {string} ours With its unit.
 * @property {string} peer The peer's name, and its own figure.
 * @property {number} ratio Ours to the peer's: the median of the rounds.
 * @property {[number, number]} spread Smallest and largest of the rounds.
 * @property {Aim} [aim] Absent: shown for information.
 */

/**
 * @param {object} line
 * @param {string} line.what
 * @param {string} line.peer
 * @param {readonly number[]} line.ours By round.
 * @param {readonly number[]} line.theirs By round.
 * @param {(value: number) => string} line.format
 * @param {Aim} [line.aim]
 * @returns {Line}
 */
export function compare({ what, peer, ours, theirs, format, aim }) {
  const ratios = pairRatios(ours, theirs);
  return {
    what,
    ours: format(median(ours)),
    peer: `${peer}: ${format(median(theirs))}`,
    ratio: median(ratios),
    spread: [Math.min(...ratios), Math.max(...ratios)],
    ...(aim === undefined ? {} : { aim }),
  };
}

/** @param {number} micros */
export function formatMicros(micros) {
  return micros < 1000 ? `${micros.toFixed(0)} µs` : `${(micros / 1000).toFixed(micros < 10_000 ? 2 : 1)} ms`;
}

/** @param {number} bytes */
export function formatMegabytes(bytes) {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}

/** @param {Line} line */
function formatAim({ aim, ratio }) {
  if (aim === undefined) return ["", ""];
  if ("below" in aim) return [`< ${aim.below.toFixed(2)}×`, ratio < aim.below ? "yes" : "**no**"];
  // Rounded as shown.
  return [`≤ ${aim.atMost.toFixed(2)}×`, Number(ratio.toFixed(2)) <= aim.atMost ? "yes" : "**no**"];
}

const TITLES = ["What", "Outrigger", "Peer", "Ratio", "Rounds", "Aim", "Met"];
/** Columns of figures are right-aligned. */
const RIGHT = new Set(["Outrigger", "Ratio", "Rounds", "Aim"]);

/** @param {readonly Line[]} lines */
export function formatTable(lines) {
  const rows = lines.map((line) => {
    const [aim = "", isMet = ""] = formatAim(line);
    const [least, most] = line.spread.map((ratio) => ratio.toFixed(2));
    return [line.what, line.ours, line.peer, `${line.ratio.toFixed(2)}×`, `${least}–${most}`, aim, isMet];
  });
  return formatColumns(TITLES, rows, RIGHT);
}

/** File systems by their statfs(2) number. */
const FILE_SYSTEMS = new Map([
  [0xef53, "ext4"],
  [0x58465342, "XFS"],
  [0x9123683e, "Btrfs"],
  [0x01021994, "tmpfs"],
  [0x794c7630, "overlayfs"],
]);

/** The machine and software behind the figures, in one line. */
export async function describeMachine() {
  const model = cpus()[0]?.model.trim() ?? "unknown processor";
  const { type } = await statfs(tmpdir());
  return [
    `${cpus().length} × ${model}`,
    `${(totalmem() / 2 ** 30).toFixed(0)} GiB`,
    `Linux ${release().split("-")[0]}`,
    `temporary files on ${FILE_SYSTEMS.get(type) ?? `file system 0x${type.toString(16)}`}`,
    `Node ${process.version}`,
  ].join(", ");
}
