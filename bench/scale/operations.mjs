import { formatColumns } from "../src/table.mjs";
import { coreSecondPrice, cpuMicros, requestsOf, requestsPrice, SERVED, STORAGES } from "./plan.mjs";

/** @import { Inputs } from "./inputs.mjs" */
/** @import { Kind, Storage } from "./plan.mjs" */

const MILLION = 1e6;
/** @type {[Kind, string][]} */
const OPERATIONS = [
  ["upload", "uploads"],
  ["hot", "reads from memory"],
  ["stored", "reads from the store"],
  ["cold", "new renditions"],
  ["edited", "edits"],
  ["removed", "deletions"],
];

/**
 * The cost of a million requests, in USD: requests to S3, and CPU where it was measured.
 * @param {Inputs} inputs
 */
export function describeOperations(inputs) {
  const storages = /** @type {[Storage, string][]} */ (Object.entries(STORAGES)); // Its own keys.
  const rows = OPERATIONS.map(([kind, title]) => [
    title,
    ...storages.map(([storage]) => {
      const cpu = cpuPrice(inputs, storage, kind);
      const requests = MILLION * requestsPrice(inputs, requestsOf(inputs, storage, kind));
      const parts = [requests.toFixed(2), ...(cpu === null ? [] : [(MILLION * cpu).toFixed(2)])];
      return parts.join(" + ");
    }),
  ]);
  const titles = ["A million of", ...storages.map(([, title]) => title)];
  return formatColumns(titles, rows, new Set(titles.slice(1)));
}

/** @param {Inputs} inputs @param {Storage} storage @param {Kind} kind */
function cpuPrice(inputs, storage, kind) {
  const served = SERVED.find((each) => each === kind);
  if (served === undefined) return null;
  const { node, records } = cpuMicros(inputs, storage, served);
  return ((node + records) / MILLION) * coreSecondPrice(inputs);
}
