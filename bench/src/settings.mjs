import { parseArgs } from "node:util";

/**
 * The amount of measurements.
 * @typedef {object} Settings
 * @property {"full" | "quick" | "smoke"} mode `smoke` only checks the answers.
 * @property {number} rounds Times that each contestant has its turn.
 * @property {number} roundCpuMs CPU that a contestant should use in one turn, in milliseconds.
 * @property {number} warmUpCpuMs CPU that a contestant uses before it is measured, in milliseconds.
 * @property {string | null} only Name of the one row to run.
 * @property {string | null} profileDirectory Directory for each server's CPU profile; `null`: no profiles.
 */

const MODES = {
  full: { rounds: 7, roundCpuMs: 400, warmUpCpuMs: 1000 },
  quick: { rounds: 3, roundCpuMs: 150, warmUpCpuMs: 400 },
  smoke: { rounds: 1, roundCpuMs: 0, warmUpCpuMs: 0 },
};

/**
 * Parses the command line. Throws a TypeError for an unknown argument.
 * @param {string[]} args
 * @param {readonly string[]} rowNames
 * @returns {Settings}
 */
export function readSettings(args, rowNames) {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: "boolean", default: false },
      smoke: { type: "boolean", default: false },
      only: { type: "string" },
      profile: { type: "string" },
    },
  });
  if (values.only !== undefined && !rowNames.includes(values.only)) {
    throw new TypeError(`--only takes one of ${rowNames.join(", ")}`);
  }
  const mode = values.smoke ? "smoke" : values.quick ? "quick" : "full";
  return {
    mode,
    ...MODES[mode],
    only: values.only ?? null,
    profileDirectory: values.profile ?? null,
  };
}
