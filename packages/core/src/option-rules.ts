import type { Secret } from "./secret-bytes.ts";

/** The rule of an option, as data: type, check, default and messages share one source. */
export type OptionRule = (
  | { readonly kind: "whole"; readonly min: number; readonly max: number; readonly unit?: Unit | undefined }
  | { readonly kind: "flag" | "url" | "secret" | "function" }
  | { readonly kind: "oneOf"; readonly values: readonly string[] }
  | { readonly kind: "text"; readonly what: string; fits(text: string): boolean; readonly isSecret: boolean }
  | { readonly kind: "texts"; readonly what: string; fits(each: unknown): boolean; readonly least: number }
  | { readonly kind: "shape"; readonly what: string; readonly methods: readonly string[] }
  | { readonly kind: "nested"; readonly table: Rules }
  | { readonly kind: "named"; readonly each: OptionRule }
  | { readonly kind: "or"; readonly off: false | null | "any"; readonly rule: OptionRule }
  | { readonly kind: "either"; readonly table: Rules; readonly other: OptionRule; readonly what: string }
  | {
      readonly kind: "value";
      readonly what: string;
      fits(value: unknown): boolean;
      readonly isSecret: boolean;
    }
) & {
  readonly presence: Presence;
  readonly preset?: unknown;
  /** Finds further faults of a value that has the right shape, with its defaults filled in. */
  readonly faults?: (given: never) => readonly OptionProblem[];
  /** Only for the compiler: the types of the value as given and as checked. */
  readonly types?: readonly [given: unknown, checked: unknown];
};

/** What a number counts. Then a text with a unit stands for it too. */
export type Unit = { readonly of: "time"; readonly ms: number } | { readonly of: "size" };

type Presence = "optional" | "preset" | "required";

/** A rule for a value of type `G`, which has type `C` once its defaults are filled in. */
export type Rule<G, P extends Presence = "optional", C = G> = OptionRule & {
  readonly presence: P;
  readonly types?: readonly [given: G, checked: C];
};

/** A fault of an option. */
export interface OptionProblem {
  /** Such as `images.cors.origins`. Empty for the options as a whole. */
  readonly path: string;
  /** A clause such as `must be a whole number from 1`. Never quotes the value, which may be a secret. */
  readonly text: string;
}

/** The declaration of options: a name, a rule and a JSDoc comment for each. */
export type Rules = Readonly<Record<string, OptionRule>>;

type Types<R extends OptionRule> = NonNullable<R["types"]>;
type Required<T extends Rules> = {
  [K in keyof T]: T[K]["presence"] extends "required" ? K : never;
}[keyof T];
type Present<T extends Rules> = { -readonly [K in keyof T]: Types<T[K]>[0] };

/**
 * The options that a table declares, as a caller gives them:
 * `export interface ExampleOptions extends Options<typeof EXAMPLE_OPTIONS> {}`.
 */
export type Options<T extends Rules> = Present<Pick<T, Required<T>>> & {
  -readonly [K in keyof Omit<T, Required<T>>]?: Types<T[K]>[0] | undefined;
};

/** Options after {@link checkOptions}: those with a default are present. */
export type Checked<T extends Rules> = {
  readonly [K in keyof T]: Types<T[K]>[1] | (T[K]["presence"] extends "optional" ? undefined : never);
};

/** Options of which each is present. `Required` would keep the `undefined` that they accept. */
export type Filled<O> = { readonly [K in keyof O]-?: Exclude<O[K], undefined> };

type Kind = OptionRule extends infer R ? (R extends unknown ? Omit<R, "presence" | "types"> : never) : never;

const rule = <G, C = G>(kind: Kind): Rule<G, "optional", C> =>
  // A rule of this kind with the presence is complete.
  ({ ...kind, presence: "optional" }) as Rule<G, "optional", C>;

/** A whole number. Without `max`, up to the largest safe integer. */
export const whole = (min: number, max = Number.MAX_SAFE_INTEGER) =>
  rule<number>({ kind: "whole", min, max });
/** A whole number of units of time, or text such as `"30d"`. @param ms The unit in milliseconds. @default 1 */
export const time = (min: number, max = Number.MAX_SAFE_INTEGER, ms = 1) =>
  rule<number | string, number>({ kind: "whole", min, max, unit: { of: "time", ms } });
/** A whole number of bytes, or text such as `"25MB"`. */
export const size = (min: number, max = Number.MAX_SAFE_INTEGER) =>
  rule<number | string, number>({ kind: "whole", min, max, unit: { of: "size" } });
export const flag = () => rule<boolean>({ kind: "flag" });
export const oneOf = <const V extends readonly string[]>(...values: V) =>
  rule<V[number]>({ kind: "oneOf", values });
/** @param what The words after "must be". */
export const text = (what: string, fits = (given: string) => given !== "") =>
  rule<string>({ kind: "text", what, fits, isSecret: false });
/** A text that messages never quote. */
export const secretText = (what: string, fits = (given: string) => given !== "") =>
  rule<string>({ kind: "text", what, fits, isSecret: true });
/** The absolute http(s) URL of a mount point. */
export const url = () => rule<string>({ kind: "url" });
/** @param what The words after "must be". @param least Minimum number of texts. */
export const texts = (what: string, isRight: (each: string) => boolean, least = 0) => {
  const fits = (each: unknown) => typeof each === "string" && isRight(each);
  return rule<readonly string[]>({ kind: "texts", what, fits, least });
};
/** A secret of at least 32 bytes, as text or bytes, or a list of such secrets. */
export const secret = () => rule<Secret>({ kind: "secret" });
export const fn = <F extends (...args: never) => unknown>() => rule<F>({ kind: "function" });
/** An object with these methods, from any source. @param what The words after "must be". */
export const shape = <T extends object>(what: string, ...methods: (keyof T & string)[]) =>
  rule<T>({ kind: "shape", what, methods });
/** Options within an option. */
export const nested = <T extends Rules>(table: T) => rule<Options<T>, Checked<T>>({ kind: "nested", table });
/** An object with arbitrary names. Each value follows the rule. */
export const named = <G, P extends Presence, C>(each: Rule<G, P, C>) =>
  rule<Readonly<Record<string, G>>, Readonly<Record<string, C>>>({ kind: "named", each });
/** The rule, or `false`. */
export const orFalse = <G, P extends Presence, C>(inner: Rule<G, P, C>) =>
  rule<G | false, C | false>({ kind: "or", off: false, rule: inner });
/** The rule, or `null`. */
export const orNull = <G, P extends Presence, C>(inner: Rule<G, P, C>) =>
  rule<G | null, C | null>({ kind: "or", off: null, rule: inner });
/** The rule, or `"any"`. */
export const orAny = <G, P extends Presence, C>(inner: Rule<G, P, C>) =>
  rule<G | "any", C | "any">({ kind: "or", off: "any", rule: inner });
/** The options of a table if the object has one of their names; otherwise the other rule. */
export const either = <T extends Rules, G, P extends Presence, C>(
  what: string,
  table: T,
  other: Rule<G, P, C>,
) => rule<Options<T> | G, Checked<T> | C>({ kind: "either", table, other, what });
/** Any other value. @param what The words after "must be". */
export const value = <T>(what: string, fits: (given: unknown) => boolean, isSecret = false) =>
  rule<T>({ kind: "value", what, fits, isSecret });
/** Any value: the code that uses it validates it. */
export const any = <T>() => value<T>("anything", () => true);

/** Makes an option required. */
export const required = <G, P extends Presence, C>(optional: Rule<G, P, C>) =>
  ({ ...optional, presence: "required" }) as Rule<G, "required", C>;
/** Gives an option a default. */
export const preset = <G, P extends Presence, C, const V extends G>(given: V, optional: Rule<G, P, C>) =>
  ({ ...optional, presence: "preset", preset: given }) as Rule<G, "preset", C> & { readonly preset: V };
/** Adds checks that the shape cannot express. @param faults Their paths start at the value: empty, or with a dot. */
export const refined = <G, P extends Presence, C>(
  simple: Rule<G, P, C>,
  faults: (given: C) => readonly OptionProblem[],
) => ({ ...simple, faults }) as Rule<G, P, C>;
/** Some options of a table, with their comments. */
export const pick = <T extends Rules, K extends keyof T & string>(table: T, names: readonly K[]) =>
  Object.fromEntries(names.map((name) => [name, table[name]])) as Pick<T, K>; // These names and no others.
