import { measureRecords } from "../scale/records.mjs";
import { compare, formatMicros } from "../src/report.mjs";

/** @import { Bench } from "../src/bench.mjs" */
/** @import { RecordFigures } from "../scale/records.mjs" */

/** Records of images in PostgreSQL: many against few. */
export async function records(/** @type {Bench} */ bench) {
  const [few, many] = (await measureRecords(bench)) ?? [];
  if (few === undefined || many === undefined) return [];
  const name = (/** @type {RecordFigures} */ { count }) => `${count.toLocaleString("en")} records`;
  const line = (
    /** @type {string} */ what,
    /** @type {(figures: RecordFigures) => readonly number[]} */ of,
    format = formatMicros,
  ) =>
    compare({
      what: `${what}, ${name(many)} in PostgreSQL`,
      ours: of(many),
      peer: name(few),
      theirs: of(few),
      format,
    });
  const bytes = (/** @type {number} */ value) => `${value.toFixed(0)} bytes`;
  return [
    line("Look-up of a random record: CPU of the process", (of) => of.nodeMicros),
    line("Look-up of a random record: CPU of the server", (of) => of.serverMicros),
    line("Look-up of a random record: time, 64 at once", (of) => of.lookUpMicros),
    line("Look-up of a random record: time, p99 one at a time", (of) => of.p99Micros),
    line("Page of 200 due entries: time", (of) => of.pageMicros),
    line("Record with its index", (of) => [of.blobBytes], bytes),
    line("Due entry with its index", (of) => [of.dueBytes], bytes),
  ];
}
