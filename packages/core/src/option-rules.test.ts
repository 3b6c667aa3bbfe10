import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { checkOptions, optionProblems } from "./check-options.ts";
import { nearestName } from "./nearest-name.ts";
import * as rules from "./option-rules.ts";

const SECRET = "0123456789abcdef0123456789abcdef";

const TABLE = {
  count: rules.preset(3, rules.whole(1, 9)),
  everyMs: rules.orFalse(rules.whole(1)),
  key: rules.secret(),
  password: rules.secretText("a password of 3 letters", (given) => given.length === 3),
  hooks: rules.shape<{ run(): void }>("an object with a method run", "run"),
  inner: rules.preset(
    {},
    rules.nested({ depth: rules.preset(1, rules.whole(0)), label: rules.text("a label") }),
  ),
  plans: rules.named(rules.whole(0)),
};

function check(options: object) {
  return checkOptions("example", options, TABLE);
}

test("checkOptions fills in defaults, in nested options too", () => {
  expect(check({})).toEqual({ count: 3, inner: { depth: 1 } });
  expect(check({ count: undefined, inner: { label: "x", depth: undefined }, everyMs: false })).toEqual({
    count: 3,
    everyMs: false,
    inner: { depth: 1, label: "x" },
  });
  expect(checkOptions("example", undefined, TABLE)).toEqual({ count: 3, inner: { depth: 1 } });
});

test.each<[object, string]>([
  [{ count: 10 }, "example: count must be a whole number from 1 to 9, not 10"],
  [{ count: "5" }, 'example: count must be a whole number from 1 to 9, not "5"'],
  [{ count: null }, "example: count must be a whole number from 1 to 9, not null"],
  [{ count: Number.NaN }, "example: count must be a whole number from 1 to 9, not NaN"],
  [{ everyMs: true }, "example: everyMs must be false or a whole number from 1, not true"],
  [{ inner: { depth: -1 } }, "example: inner.depth must be a whole number from 0, not -1"],
  [{ inner: [] }, "example: inner must be an object of options (depth, label), not an empty list"],
  [{ inner: { labels: "x" } }, "inner.labels is no option of example: did you mean inner.label?"],
  [{ plans: { free: 1, pro: 0.5 } }, "example: plans.pro must be a whole number from 0, not 0.5"],
  [{ hooks: { run: 1 } }, "example: hooks must be an object with a method run, not an object without run()"],
  [
    { hooks: () => undefined },
    "example: hooks must be an object with a method run, not the function hooks: call it, hooks: hooks()",
  ],
])("checkOptions rejects %j with a message that names the expected value", (options, message) => {
  expect(() => check(options)).toThrow(new TypeError(message));
});

test("no message quotes a secret, even one passed as another option", () => {
  for (const name of Object.keys(TABLE)) {
    for (const options of [
      { [name]: `${SECRET}!` },
      { [name]: "redis://:hush@host" },
      { [name]: [`${SECRET}!`] },
    ]) {
      let message = "";
      try {
        check(options);
      } catch (error) {
        message = String(error);
      }
      expect(message).not.toMatch(/0123|hush/);
    }
  }
  expect(() => check({ password: "hush" })).toThrow("not a text of 4 characters");
  expect(() => check({ key: "hush" })).toThrow("not 4 bytes");
});

test("optionProblems lists every invalid option and quotes no value", () => {
  const given = { count: SECRET, inner: { depth: -1, lable: 1 }, plans: { free: 0.5 }, pasword: SECRET };
  expect(optionProblems(given, TABLE)).toEqual([
    { path: "count", text: "must be a whole number from 1 to 9" },
    { path: "inner.depth", text: "must be a whole number from 0" },
    { path: "inner.lable", text: "unknown key, did you mean inner.label?" },
    { path: "plans.free", text: "must be a whole number from 0" },
    { path: "pasword", text: "unknown key, did you mean password?" },
  ]);
  expect(optionProblems([], TABLE)).toEqual([
    { path: "", text: expect.stringMatching(/^must be an object of options \(count, /) },
  ]);
  expect(optionProblems({ count: undefined }, TABLE)).toEqual([]);
});

test("a refined rule only checks values of the right shape, with defaults filled in", () => {
  const span = rules.refined(
    rules.nested({ from: rules.preset(5, rules.whole(0)), to: rules.required(rules.whole(0)) }),
    ({ from, to }) => (to < from ? [{ path: ".to", text: "must not be less than from" }] : []),
  );
  const problems = (given: object) => optionProblems({ span: given }, { span });
  expect(problems({ to: 5 })).toEqual([]);
  expect(problems({ to: 4 })).toEqual([{ path: "span.to", text: "must not be less than from" }]);
  expect(problems({ to: "4" })).toEqual([{ path: "span.to", text: "must be a whole number from 0" }]);
  expect(problems({})).toEqual([{ path: "span.to", text: "must be a whole number from 0" }]);
  expect(() => checkOptions("example", { span: { to: 4 } }, { span })).toThrow(
    new TypeError("example: span.to must not be less than from"),
  );
});

test("bytes of another realm count as bytes", () => {
  const bytes: unknown = runInNewContext("new Uint8Array(32)");
  expect(bytes).not.toBeInstanceOf(Uint8Array);
  expect(check({ key: [SECRET, bytes] })).toMatchObject({ key: [SECRET, bytes] });
  expect(() => check({ key: runInNewContext("new Uint8Array(31)") })).toThrow("not 31 bytes");
});

test.each([
  ["authorise", ["authorize", "authenticate"], "authorize"],
  ["TIMEOUTMS", ["timeoutMs", "maxTimeMs"], "timeoutMs"],
  ["timeuotMs", ["timeMs", "timeoutMs"], "timeoutMs"],
  ["prefix", ["mountPath", "onError"], "mountPath"],
  ["uploads", ["creates", "reads"], "creates"],
  ["colour", ["storage", "renderer"], null],
])('nearestName finds for "%s" among %j the name %s', (name, known, meant) => {
  expect(nearestName(name, known)).toBe(meant);
});

const AMOUNTS = {
  idleMs: rules.preset("2s", rules.time(1000, 60_000)),
  days: rules.orFalse(rules.time(1, 3650, 86_400_000)),
  bytes: rules.size(1),
  inner: rules.nested({ bytes: rules.orNull(rules.size(0)) }),
};

test("text with a unit stands for a time or a size, in defaults, nested options and beside false", () => {
  const given = { days: "2w", bytes: "25MB", inner: { bytes: "1 KiB" } };
  const wanted = { idleMs: 2000, days: 14, bytes: 25_000_000, inner: { bytes: 1024 } };
  expect(checkOptions("example", given, AMOUNTS)).toEqual(wanted);
  expect(checkOptions("example", wanted, AMOUNTS)).toEqual(wanted);
  expect(checkOptions("example", { days: false }, AMOUNTS)).toMatchObject({ days: false });
});

test("digits count in the unit of the option, as an environment variable has them", () => {
  expect(checkOptions("example", { idleMs: "5000", days: "7", bytes: "9" }, AMOUNTS)).toMatchObject({
    idleMs: 5000,
    days: 7,
    bytes: 9,
  });
});

test.each([
  [
    { idleMs: "61s" },
    'idleMs must be a whole number from 1000 to 60000, or a time such as "30s" or "7d", not "61s"',
  ],
  [{ idleMs: "2MB" }, 'or a time such as "30s" or "7d", not "2MB"'],
  [
    { days: "36h" },
    'days must be false or a whole number from 1 to 3650, or a time such as "30s" or "7d", not "36h"',
  ],
  [
    { bytes: "25 megabytes" },
    'bytes must be a whole number from 1, or a size such as "25MB", not "25 megabytes"',
  ],
  [{ bytes: "" }, 'or a size such as "25MB", not ""'],
])("%j is refused with a message that names the accepted forms", (options, message) => {
  expect(() => checkOptions("example", options, AMOUNTS)).toThrow(`${message}`);
});
