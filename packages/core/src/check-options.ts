import { parseDuration, parseSize } from "./amounts.ts";
import { nearestName } from "./nearest-name.ts";
import {
  type Checked,
  nested,
  type OptionProblem,
  type OptionRule,
  type Options,
  type Rules,
  type Unit,
} from "./option-rules.ts";
import * as values from "./option-values.ts";
import { isEncoded, KEPT_TEXT, MIN_SECRET_BYTES, secretBytes } from "./secret-bytes.ts";

/**
 * Checks the options of a factory and fills in their defaults. `undefined` counts as absent.
 * @param factory Name of the factory, for messages.
 * @throws TypeError that names the option, what it must be and the value given. Secrets are never quoted.
 */
export function checkOptions<T extends Rules>(
  factory: string,
  options: Options<T> | undefined,
  table: T,
): Checked<T> {
  const wanted = Object.keys(table).filter((name) => table[name]?.presence === "required");
  if (!values.isObject(options) && (options !== undefined || wanted.length > 0)) {
    const names = wanted.length > 0 ? ` with ${wanted.join(", ")}` : "";
    throw new TypeError(`${factory} takes an object of options${names}, not ${values.typeName(options)}`);
  }
  const report: Report = { factory, faults: [] };
  const checked = checkTable(report, "", options ?? {}, table);
  throwFirst(report);
  // Each value was checked by its rule.
  return checked as Checked<T>;
}

/** Checks one value. @param name Name of the value in messages. @throws TypeError like {@link checkOptions}. */
export function checkValue(name: string, given: unknown, rule: OptionRule): void {
  const report: Report = { factory: "", faults: [] };
  check(report, name, given, rule);
  throwFirst(report);
}

/** The number that a text stands for. @throws TypeError, without the text, if the rule of a whole number excludes it. */
export function wholeIn(name: string, text: string, rule: OptionRule): number {
  const number = /^\d+$/.test(text) ? Number(text) : text;
  const amount = rule.kind === "whole" ? amountOf(number, rule.unit) : null;
  if (typeof amount === "number" && fits(amount, rule)) return amount;
  throw new TypeError(`must have as ${name} ${wantedBy(rule)}`);
}

/** Lists every problem of options from a configuration file or the environment. Empty if there is none. */
export function optionProblems(given: unknown, table: Rules): OptionProblem[] {
  const report: Report = { factory: "", faults: [] };
  check(report, "", given, nested(table));
  return report.faults.map(({ path, text }) => ({ path, text }));
}

/** The problems that a check has found so far, each with the message that a factory throws. */
interface Report {
  readonly factory: string;
  readonly faults: (OptionProblem & { readonly message: string; readonly isUnknown?: boolean })[];
}

function throwFirst({ faults }: Report): void {
  const first = faults.find(({ isUnknown }) => isUnknown) ?? faults[0];
  if (first !== undefined) throw new TypeError(first.message);
}

function checkTable(report: Report, path: string, given: object, table: Rules): Record<string, unknown> {
  const checked: Record<string, unknown> = {};
  for (const [name, rule] of Object.entries(table)) {
    const each: unknown = Reflect.get(given, name);
    if (each === undefined && rule.presence === "required") {
      const wanted = wantedBy(rule);
      addFault(report, path + name, `must be ${wanted}`, `is required: ${wanted}`);
    }
    const filled = each === undefined ? rule.preset : each;
    checked[name] = filled === undefined ? undefined : check(report, path + name, filled, rule);
  }
  const known = Object.keys(table);
  for (const [name, each] of Object.entries(given)) {
    if (each === undefined || Object.hasOwn(table, name)) continue;
    const nearest = nearestName(name, known);
    const guess = nearest === null ? null : `did you mean ${path}${nearest}?`;
    const message = `${path}${name} is no option of ${report.factory}: ${guess ?? `it takes ${known.join(", ")}`}`;
    const text = guess === null ? "unknown key" : `unknown key, ${guess}`;
    report.faults.push({ path: path + name, text, message, isUnknown: true });
  }
  return checked;
}

/** Checks a value. Returns it with the defaults of the options within it. */
function check(report: Report, path: string, given: unknown, rule: OptionRule): unknown {
  const inner = rule.kind === "or" ? rule.rule : rule;
  if (values.isObject(given)) {
    if (rule.kind === "or" && inner.kind === "nested") return check(report, path, given, inner);
    if (inner.kind === "either" && Object.keys(inner.table).some((name) => name in given)) {
      return check(report, path, given, nested(inner.table));
    }
  }
  if (!fits(given, rule)) {
    const text = `must be ${wantedBy(rule)}`;
    addFault(report, path, text, `${text}, not ${shown(path, given, rule)}`);
    return given;
  }
  if (rule.kind === "either") return check(report, path, given, rule.other);
  const before = report.faults.length;
  const filled = fillIn(report, path, given, rule);
  // Further checks expect a value of the right shape.
  const faults = report.faults.length === before ? rule.faults?.(filled as never) : undefined;
  for (const fault of faults ?? []) addFault(report, path + fault.path, fault.text);
  return filled;
}

function fillIn(report: Report, path: string, given: unknown, rule: OptionRule): unknown {
  const below = path === "" ? "" : `${path}.`;
  if (rule.kind === "nested") return checkTable(report, below, given as object, rule.table); // fits() has checked that it is an object.
  const inner = rule.kind === "or" ? rule.rule : rule;
  if (inner.kind === "whole") return amountOf(given, inner.unit);
  if (rule.kind !== "named") return given;
  const entries = Object.entries(given as object); // Likewise.
  return Object.fromEntries(
    entries.map(([name, each]) => [name, check(report, below + name, each, rule.each)]),
  );
}

function addFault({ factory, faults }: Report, path: string, text: string, sentence = text): void {
  faults.push({ path, text, message: `${factory === "" ? path : `${factory}: ${path}`} ${sentence}` });
}

function fits(given: unknown, rule: OptionRule): boolean {
  switch (rule.kind) {
    case "whole":
      return values.isWhole(amountOf(given, rule.unit), rule.min, rule.max);
    case "flag":
      return typeof given === "boolean";
    case "oneOf":
      return typeof given === "string" && rule.values.includes(given);
    case "text":
      return typeof given === "string" && rule.fits(given);
    case "url":
      return typeof given === "string" && values.isMountUrl(given);
    case "texts":
      return Array.isArray(given) && given.length >= rule.least && given.every(rule.fits);
    case "secret": {
      const list: unknown[] = Array.isArray(given) ? given : [given];
      return list.length > 0 && list.every(isLong);
    }
    case "function":
      return typeof given === "function";
    case "shape":
      return values.isObject(given) && values.missingMethod(given, rule.methods) === undefined;
    case "nested":
    case "named":
      return values.isObject(given);
    case "or":
      return given === rule.off || fits(given, rule.rule);
    case "either":
      return fits(given, rule.other);
    case "value":
      return rule.fits(given);
  }
}

/** The number that a text stands for where the rule has a unit. Digits count in the unit of the option, as in its name. */
function amountOf(given: unknown, unit: Unit | undefined): unknown {
  if (typeof given !== "string" || unit === undefined) return given;
  if (/^\d+$/.test(given)) return Number(given);
  if (unit.of === "size") return parseSize(given);
  const ms = parseDuration(given);
  return ms === null ? null : ms / unit.ms;
}

function isLong(secret: unknown): boolean {
  const size = typeof secret === "string" ? (secretBytes(secret)?.length ?? 0) : values.byteLength(secret);
  return size >= MIN_SECRET_BYTES;
}

/** The words after "must be". */
function wantedBy(rule: OptionRule): string {
  switch (rule.kind) {
    case "whole": {
      const to = rule.max === Number.MAX_SAFE_INTEGER ? "" : ` to ${rule.max}`;
      const text = { time: ', or a time such as "30s" or "7d"', size: ', or a size such as "25MB"' };
      return `a whole number from ${rule.min}${to}${rule.unit === undefined ? "" : text[rule.unit.of]}`;
    }
    case "flag":
      return "true or false";
    case "oneOf":
      return `one of ${rule.values.join(", ")}`;
    case "url":
      return "an http(s) URL without credentials, query or fragment, such as https://example.com/img";
    case "secret":
      return `at least ${MIN_SECRET_BYTES} bytes as text or Uint8Array, or a list of such secrets`;
    case "function":
      return "a function";
    case "nested":
      return `an object of options (${Object.keys(rule.table).join(", ")})`;
    case "named":
      return "an object";
    case "or":
      return `${JSON.stringify(rule.off)} or ${wantedBy(rule.rule)}`;
    default:
      return rule.what;
  }
}

/** The given value in short. Never a secret. */
function shown(path: string, given: unknown, rule: OptionRule): string {
  if (rule.kind === "secret" && [given].flat().some((each) => isEncoded(each) && !isLong(String(each))))
    return `fewer: ${KEPT_TEXT}`;
  if (rule.kind === "secret" && values.byteLength(given) >= 0) return `${values.byteLength(given)} bytes`;
  if (typeof given === "string") {
    return values.shownText(given, rule.kind === "secret" || ("isSecret" in rule && rule.isSecret));
  }
  const shapeRule = rule.kind === "either" ? rule.other : rule;
  if (typeof given === "function" && shapeRule.kind === "shape")
    return values.shownFunction(given.name, path);
  if (!values.isObject(given)) return values.typeName(given);
  if ("then" in given) return "a promise: await it";
  const missing = shapeRule.kind === "shape" ? values.missingMethod(given, shapeRule.methods) : undefined;
  return missing === undefined ? values.typeName(given) : `an object without ${missing}()`;
}
