import { cpus, release, totalmem } from "node:os";

/**
 * A line of the table.
 * @typedef {object} Line
 * @property {string} what
 * @property {string} ours With its unit.
 * @property {string} peer The peer's name, and its own figure.
 * @property {number} ratio Ours to the peer's: the median of the rounds.
 * @property {[number, number]} spread Smallest and largest of the rounds.
 * @property {number | undefined} atMost Aim of the ratio. Absent: shown for information.
 */

/**
 * @param {object} line
 * @param {string} line.what
 * @param {string} line.peer
 * @param {readonly number[]} line.ours By round.
 * @param {readonly number[]} line.theirs By round.
 * @param {(value: number) => string} [line.format] Default: microseconds.
 * @param {number} [line.atMost]
 * @returns {Line}
 */
export function compare({ what, peer, ours, theirs, format = formatMicros, atMost }) {
  // Values of a round were measured next to each other.
  const ratios = ours.map((value, round) => value / (theirs[round] ?? Number.NaN));
  return {
    what,
    ours: format(median(ours)),
    peer: `${peer}: ${format(median(theirs))}`,
    ratio: median(ratios),
    spread: [Math.min(...ratios), Math.max(...ratios)],
    atMost,
  };
}

/** @param {readonly number[]} values */
export function median(values) {
  return quantile(values, 0.5);
}

/**
 * @param {readonly number[]} values
 * @param {number} share 0 to 1
 * @returns {number} Interpolated between the two nearest values; NaN of none.
 */
export function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  const position = (sorted.length - 1) * share;
  const below = sorted[Math.floor(position)] ?? Number.NaN;
  const above = sorted[Math.ceil(position)] ?? Number.NaN;
  return below + (above - below) * (position - Math.floor(position));
}

/** @param {number} micros */
function formatMicros(micros) {
  return micros < 1000 ? `${micros.toFixed(0)} µs` : `${(micros / 1000).toFixed(micros < 10_000 ? 2 : 1)} ms`;
}

/** @param {number} bytes */
export function formatMegabytes(bytes) {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}

/** @param {readonly Line[]} lines */
export function formatTable(lines) {
  const rows = lines.map(({ what, ours, peer, ratio, spread, atMost }) => {
    const rounds = spread.map((each) => each.toFixed(2)).join("–");
    // Rounded as shown.
    const isMet = atMost === undefined || Number(ratio.toFixed(2)) <= atMost;
    const aim = atMost === undefined ? " | " : `≤ ${atMost.toFixed(2)}× | ${isMet ? "yes" : "**no**"}`;
    return `| ${what} | ${ours} | ${peer} | ${ratio.toFixed(2)}× | ${rounds} | ${aim} |`;
  });
  const head = ["| What | Outrigger | Peer | Ratio | Rounds | Aim | Met |", "|---|--:|---|--:|--:|--:|---|"];
  return [...head, ...rows].join("\n");
}

/** The machine and software behind the figures, in one line. */
export function describeMachine() {
  const model = cpus()[0]?.model.trim() ?? "unknown processor";
  const memory = `${(totalmem() / 2 ** 30).toFixed(0)} GiB`;
  return `${cpus().length} × ${model}, ${memory}, Linux ${release().split("-")[0]}, Node ${process.version}`;
}
