import { nearestName } from "./nearest-name.ts";
import * as values from "./option-values.ts";

/** What an option may be: data, so that checks and messages come from one place. */
export type OptionRule = (
  | { readonly kind: "whole"; readonly min: number; readonly max: number }
  | { readonly kind: "flag" }
  | { readonly kind: "oneOf"; readonly values: readonly string[] }
  | { readonly kind: "text"; readonly what: string; fits(text: string): boolean; readonly isSecret: boolean }
  | { readonly kind: "url" }
  | { readonly kind: "texts"; readonly what: string; fits(each: unknown): boolean; readonly least: number }
  | { readonly kind: "secret"; readonly minBytes: number; readonly isList: boolean }
  | { readonly kind: "function" }
  | { readonly kind: "shape"; readonly what: string; readonly methods: readonly string[] }
  | { readonly kind: "nested"; readonly table: Rules }
  | { readonly kind: "named"; readonly each: OptionRule }
  | { readonly kind: "orFalse"; readonly rule: OptionRule }
  | { readonly kind: "either"; readonly nested: Nested; readonly other: OptionRule; readonly what: string }
  | {
      readonly kind: "value";
      readonly what: string;
      fits(value: unknown): boolean;
      readonly isSecret: boolean;
    }
) & {
  readonly presence: "optional" | "preset" | "required";
  readonly preset?: unknown;
  /** What else is wrong with a value that has the right shape, its defaults filled in. */
  readonly faults?: (given: never) => readonly OptionProblem[];
};

/** What is wrong with an option. */
export interface OptionProblem {
  /** `images.cors.origins`; empty for the options as a whole. */
  readonly path: string;
  /** A clause such as `must be a whole number from 1`. It repeats no value: that may be a secret. */
  readonly text: string;
}

type Rules = Readonly<Record<string, OptionRule>>;
type Kind<K extends OptionRule["kind"]> = Extract<OptionRule, { kind: K }>;
type Nested<T = Rules> = Omit<Kind<"nested">, "table"> & { readonly table: T };
type Optional = { readonly presence: "optional" };

/** A rule for every option of an interface and for nothing else; what is required there is required here. */
export type RuleTable<O> = {
  readonly [K in keyof O]-?: OptionRule & {
    readonly presence: Partial<Pick<O, K>> extends Pick<O, K> ? "optional" | "preset" : "required";
  };
};

/** Options after {@link checkOptions}: what has a default is there. */
export type Checked<O, T> = {
  readonly [K in keyof O]-?: K extends keyof T
    ? CheckedValue<Exclude<O[K], undefined>, T[K]> | (T[K] extends Optional ? undefined : never)
    : O[K];
};
type CheckedValue<V, R> = R extends { readonly kind: "nested"; readonly table: infer T }
  ? Checked<V, T>
  : R extends { readonly kind: "orFalse"; readonly rule: infer Inner }
    ? false | CheckedValue<Exclude<V, false>, Inner>
    : V;

/** Spreading a generic would leave the old presence in its type. */
type With<R, P> = Omit<R, "presence" | "preset"> & { readonly presence: P; readonly preset?: unknown };

const optional = { presence: "optional" } as const;

/** A whole number; without `max` any that is exact. */
export const whole = (min: number, max = Number.MAX_SAFE_INTEGER) =>
  ({ ...optional, kind: "whole", min, max }) as const;
export const flag = () => ({ ...optional, kind: "flag" }) as const;
export const oneOf = (...values: string[]) => ({ ...optional, kind: "oneOf", values }) as const;
/** @param what follows "must be". */
export const text = (what: string, fits = (given: string) => given !== "") =>
  ({ ...optional, kind: "text", what, fits, isSecret: false }) as const;
/** A text that no message repeats. */
export const secretText = (what: string, fits = (given: string) => given !== "") =>
  ({ ...optional, kind: "text", what, fits, isSecret: true }) as const;
/** The absolute http(s) URL of a mount point. */
export const url = () => ({ ...optional, kind: "url" }) as const;
/** @param what follows "must be". @param least how many texts at least. */
export const texts = (what: string, isRight: (each: string) => boolean, least = 0) => {
  const fits = (each: unknown) => typeof each === "string" && isRight(each);
  return { ...optional, kind: "texts", what, fits, least } as const;
};
/** A secret as text or bytes; with `isList` also a list of them. */
export const secret = (minBytes: number, isList: boolean) =>
  ({ ...optional, kind: "secret", minBytes, isList }) as const;
export const fn = () => ({ ...optional, kind: "function" }) as const;
/** An object with these methods, whatever made it. @param what follows "must be". */
export const shape = (what: string, ...methods: string[]) =>
  ({ ...optional, kind: "shape", what, methods }) as const;
/** Options within an option. */
export const nested = <T extends Rules>(table: T) => ({ ...optional, kind: "nested", table }) as const;
/** An object of any names, each with a value of this rule. */
export const named = (each: OptionRule) => ({ ...optional, kind: "named", each }) as const;
/** The rule, or `false`. */
export const orFalse = <R extends OptionRule>(rule: R) => ({ ...optional, kind: "orFalse", rule }) as const;
/** Options within an option where the object has one of their names; otherwise the other rule. */
export const either = (what: string, inner: Nested, other: OptionRule) =>
  ({ ...optional, kind: "either", nested: inner, other, what }) as const;
/** Anything else. @param what follows "must be". */
export const value = (what: string, fits: (given: unknown) => boolean, isSecret = false) =>
  ({ ...optional, kind: "value", what, fits, isSecret }) as const;

/** Any value: the code that reads it checks it. */
export const any = () => value("anything", () => true);

/** The rule of an option that must be given. */
export const required = <R extends OptionRule>(rule: R) =>
  ({ ...rule, presence: "required" }) as With<R, "required">;
/** The rule of an option that is `given` where it is left out. */
export const preset = <R extends OptionRule, V>(given: V, rule: R) =>
  ({ ...rule, presence: "preset", preset: given }) as With<R, "preset"> & { readonly preset: V };
/** The rule, and what its shape cannot say. @param faults Their paths begin at the value: empty, or with a dot. */
export const refined = <R extends OptionRule, V>(rule: R, faults: (given: V) => readonly OptionProblem[]) =>
  ({ ...rule, faults }) as R & { readonly faults: (given: V) => readonly OptionProblem[] };

/**
 * The options of a factory with their defaults; `undefined` counts as absent.
 * @param factory its name, for messages.
 * @throws TypeError that names the option, says what it must be and what was given instead. Secrets are not repeated.
 */
export function checkOptions<O extends object, T extends Rules>(
  factory: string,
  options: O | undefined,
  table: T,
): Checked<O, T> {
  const wanted = Object.keys(table).filter((name) => table[name]?.presence === "required");
  if (!values.isObject(options) && (options !== undefined || wanted.length > 0)) {
    const names = wanted.length > 0 ? ` with ${wanted.join(", ")}` : "";
    throw new TypeError(`${factory} takes an object of options${names}, not ${values.typeName(options)}`);
  }
  const report: Report = { factory, faults: [] };
  const checked = checkTable(report, "", options ?? {}, table);
  throwFirst(report);
  // The table has a rule for every key of O, and each value was checked by it.
  return checked as Checked<O, T>;
}

/** Checks one value. @param name as it stands in messages. @throws TypeError as {@link checkOptions}. */
export function checkValue(name: string, given: unknown, rule: OptionRule): void {
  const report: Report = { factory: "", faults: [] };
  check(report, name, given, rule);
  throwFirst(report);
}

/** All that is wrong with options from a configuration file or the environment; empty where nothing is. */
export function optionProblems(given: unknown, table: Rules): OptionProblem[] {
  const report: Report = { factory: "", faults: [] };
  check(report, "", given, nested(table));
  return report.faults.map(({ path, text }) => ({ path, text }));
}

/** What a check has found so far, each with the sentence that a factory throws. */
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

/** The value, with the defaults of options within it. */
function check(report: Report, path: string, given: unknown, rule: OptionRule): unknown {
  if (rule.kind === "orFalse" && given !== false && rule.rule.kind === "nested" && values.isObject(given)) {
    return check(report, path, given, rule.rule);
  }
  if (rule.kind === "either") {
    const isNested = values.isObject(given) && Object.keys(rule.nested.table).some((name) => name in given);
    if (isNested) return check(report, path, given, rule.nested);
  }
  if (!fits(given, rule)) {
    const text = `must be ${wantedBy(rule)}`;
    addFault(report, path, text, `${text}, not ${shown(path, given, rule)}`);
    return given;
  }
  if (rule.kind === "either") return check(report, path, given, rule.other);
  const before = report.faults.length;
  const filled = fillIn(report, path, given, rule);
  // Only what has the shape is looked at further.
  const faults = report.faults.length === before ? rule.faults?.(filled as never) : undefined;
  for (const fault of faults ?? []) addFault(report, path + fault.path, fault.text);
  return filled;
}

function fillIn(report: Report, path: string, given: unknown, rule: OptionRule): unknown {
  const below = path === "" ? "" : `${path}.`;
  if (rule.kind === "nested") return checkTable(report, below, given as object, rule.table); // It fits.
  if (rule.kind !== "named") return given;
  const entries = Object.entries(given as object); // As above.
  return Object.fromEntries(
    entries.map(([name, each]) => [name, check(report, below + name, each, rule.each)]),
  );
}

function addFault({ factory, faults }: Report, path: string, text: string, said = text): void {
  faults.push({ path, text, message: `${factory === "" ? path : `${factory}: ${path}`} ${said}` });
}

function fits(given: unknown, rule: OptionRule): boolean {
  switch (rule.kind) {
    case "whole":
      return values.isWhole(given, rule.min, rule.max);
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
      const list: unknown[] = rule.isList && Array.isArray(given) ? given : [given];
      return list.length > 0 && list.every((each) => values.byteLength(each) >= rule.minBytes);
    }
    case "function":
      return typeof given === "function";
    case "shape":
      return values.isObject(given) && values.missingMethod(given, rule.methods) === undefined;
    case "nested":
    case "named":
      return values.isObject(given);
    case "orFalse":
      return given === false || fits(given, rule.rule);
    case "either":
      return fits(given, rule.other);
    case "value":
      return rule.fits(given);
  }
}

/** What follows "must be". */
function wantedBy(rule: OptionRule): string {
  switch (rule.kind) {
    case "whole": {
      const to = rule.max === Number.MAX_SAFE_INTEGER ? "" : ` to ${rule.max}`;
      return `a whole number from ${rule.min}${to}`;
    }
    case "flag":
      return "true or false";
    case "oneOf":
      return `one of ${rule.values.join(", ")}`;
    case "url":
      return "an http(s) URL without credentials, query or fragment, such as https://example.com/img";
    case "secret":
      return `at least ${rule.minBytes} bytes as text or Uint8Array${rule.isList ? ", or a list of such secrets" : ""}`;
    case "function":
      return "a function";
    case "nested":
      return `an object of options (${Object.keys(rule.table).join(", ")})`;
    case "named":
      return "an object";
    case "orFalse":
      return `false or ${wantedBy(rule.rule)}`;
    default:
      return rule.what;
  }
}

/** What was given, short, and never a secret. */
function shown(path: string, given: unknown, rule: OptionRule): string {
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
