// Nightly: runs files of the other runs on other dates; those have the date of today.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { fakeClockVariables } from "../reliability/disk/fake-clock.ts";
import { root } from "./copy.ts";

/** Files whose outcome depends on dates. The times of files and the clocks of commands stay real, so none compares them. */
const FILES = [
  "client/src/reply",
  "core/src/http/conditional",
  "core/src/images/http/edit-image",
  "core/src/images/http/pages/image-pages",
  "core/src/images/http/sunset",
  "core/src/images/http/tickets",
  "core/src/images/life/clock-guard",
  "core/src/images/life/expiry",
  "core/src/images/life/for-ever",
  "core/src/images/life/index-entries",
  "core/src/images/owners/owner-limits",
  "core/src/images/record/image-fields",
  "core/src/images/record/parse-date",
  "core/src/images/record/record-codec",
  "core/src/images/record/stored-layout",
  "core/src/images/renditions/signed-addresses",
  "core/src/lookup/accounts/meter",
  "core/src/lookup/http/lookup-service",
  "core/src/lookup/verify/verify-address",
  "ops/src/backup",
  "ops/src/restore",
  "page-index/src/crawl/page-index.long",
  "server/src/cli/option-values",
  "sql/src/pages/store-visit.long",
  "sql/src/transfer/competing-columns",
  "web/src/time-left",
].map((path) => `packages/${path}.test.ts`);
const TESTS = ["client", "images", "images-refusals", "ticket-terms"].map((path) => `test/${path}.test.ts`);
const DAY_MS = 86_400_000;
/** Time for all files, also on a busy machine. */
const LIMIT_MS = 900_000;

/** Shortly before the end of the next 28 February of a leap year or another one, so that files run in its last second. */
function beforeEndOfFebruary28(isLeapYear: boolean): number {
  let year = new Date().getUTCFullYear() + 1;
  while ((new Date(Date.UTC(year, 1, 29)).getUTCMonth() === 1) !== isLeapYear) year++;
  return Date.UTC(year, 1, 28, 23, 59, 45);
}

test.each([
  ["a year ahead", () => Date.now() + 365 * DAY_MS],
  ["at the end of 28 February, before a leap day", () => beforeEndOfFebruary28(true)],
  ["at the end of February", () => beforeEndOfFebruary28(false)],
])("tests that compare dates pass %s", { timeout: LIMIT_MS }, async (_, begins) => {
  const aheadMs = begins() - Date.now();
  const env = {
    ...process.env,
    ...(await fakeClockVariables()),
    ...{ FAKETIME: `+${Math.floor(aheadMs / 1000)}`, TZ: "UTC" },
    ...{ OUTRIGGER_TEST_BUILD: "1", OUTRIGGER_TEST_TIER: "quick", NO_COLOR: "1" },
  };
  const node = (...args: string[]) =>
    promisify(execFile)(process.execPath, args, { cwd: root, env, maxBuffer: 2 ** 26 });
  expect(Number((await node("-p", "Date.now()")).stdout)).toBeGreaterThan(Date.now() + aheadMs - DAY_MS);
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const output = await node(vitest, "run", ...FILES, ...TESTS).then(
    ({ stdout }) => stdout,
    ({ message, stdout }) => expect.fail(`${message}\n${stdout}`),
  );
  expect(output).toMatch(new RegExp(`Test Files +${FILES.length + TESTS.length} passed`));
});
