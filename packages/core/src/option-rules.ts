/** The rule of an option, as data: checks and messages share one source. */
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
  | { readonly kind: "or"; readonly off: false | null; readonly rule: OptionRule }
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
  /** Finds further faults of a value that has the right shape, with its defaults filled in. */
  readonly faults?: (given: never) => readonly OptionProblem[];
};

/** A fault of an option. */
export interface OptionProblem {
  /** Such as `images.cors.origins`. Empty for the options as a whole. */
  readonly path: string;
  /** A clause such as `must be a whole number from 1`. Never quotes the value, which may be a secret. */
  readonly text: string;
}

export type Rules = Readonly<Record<string, OptionRule>>;
type Kind<K extends OptionRule["kind"]> = Extract<OptionRule, { kind: K }>;
type Nested<T = Rules> = Omit<Kind<"nested">, "table"> & { readonly table: T };
type Optional = { readonly presence: "optional" };

/** One rule for every option of an interface, and no others. An option required there must be required here. */
export type RuleTable<O> = {
  readonly [K in keyof O]-?: OptionRule & {
    readonly presence: Partial<Pick<O, K>> extends Pick<O, K> ? "optional" | "preset" : "required";
  };
};

/** Options of which each is present. `Required` would keep the `undefined` that they accept. */
export type Filled<O> = { readonly [K in keyof O]-?: Exclude<O[K], undefined> };

/** Options after {@link checkOptions}: those with a default are present. */
export type Checked<O, T> = {
  readonly [K in keyof O]-?: K extends keyof T
    ? CheckedValue<Exclude<O[K], undefined>, T[K]> | (T[K] extends Optional ? undefined : never)
    : O[K];
};
type CheckedValue<V, R> = R extends { readonly kind: "nested"; readonly table: infer T }
  ? Checked<V, T>
  : R extends { readonly kind: "or"; readonly off: infer Off; readonly rule: infer Inner }
    ? Off | CheckedValue<Exclude<V, Off>, Inner>
    : V;

/** Replaces the presence of a rule. Spreading a generic type would keep the old presence. */
type With<R, P> = Omit<R, "presence" | "preset"> & { readonly presence: P; readonly preset?: unknown };

const optional = { presence: "optional" } as const;

/** A whole number. Without `max`, up to the largest safe integer. */
export const whole = (min: number, max = Number.MAX_SAFE_INTEGER) =>
  ({ ...optional, kind: "whole", min, max }) as const;
export const flag = () => ({ ...optional, kind: "flag" }) as const;
export const oneOf = (...values: string[]) => ({ ...optional, kind: "oneOf", values }) as const;
/** @param what The words after "must be". */
export const text = (what: string, fits = (given: string) => given !== "") =>
  ({ ...optional, kind: "text", what, fits, isSecret: false }) as const;
/** A text that messages never quote. */
export const secretText = (what: string, fits = (given: string) => given !== "") =>
  ({ ...optional, kind: "text", what, fits, isSecret: true }) as const;
/** The absolute http(s) URL of a mount point. */
export const url = () => ({ ...optional, kind: "url" }) as const;
/** @param what The words after "must be". @param least Minimum number of texts. */
export const texts = (what: string, isRight: (each: string) => boolean, least = 0) => {
  const fits = (each: unknown) => typeof each === "string" && isRight(each);
  return { ...optional, kind: "texts", what, fits, least } as const;
};
/** A secret as text or bytes; with `isList`, also a list of secrets. */
export const secret = (minBytes: number, isList: boolean) =>
  ({ ...optional, kind: "secret", minBytes, isList }) as const;
export const fn = () => ({ ...optional, kind: "function" }) as const;
/** An object with these methods, from any source. @param what The words after "must be". */
export const shape = (what: string, ...methods: string[]) =>
  ({ ...optional, kind: "shape", what, methods }) as const;
/** Options within an option. */
export const nested = <T extends Rules>(table: T) => ({ ...optional, kind: "nested", table }) as const;
/** An object with arbitrary names. Each value follows the rule. */
export const named = (each: OptionRule) => ({ ...optional, kind: "named", each }) as const;
/** The rule, or `false`. */
export const orFalse = <R extends OptionRule>(rule: R) =>
  ({ ...optional, kind: "or", off: false, rule }) as const;
/** The rule, or `null`. */
export const orNull = <R extends OptionRule>(rule: R) =>
  ({ ...optional, kind: "or", off: null, rule }) as const;
/** Nested options if the object has one of their names; otherwise the other rule. */
export const either = (what: string, inner: Nested, other: OptionRule) =>
  ({ ...optional, kind: "either", nested: inner, other, what }) as const;
/** Any other value. @param what The words after "must be". */
export const value = (what: string, fits: (given: unknown) => boolean, isSecret = false) =>
  ({ ...optional, kind: "value", what, fits, isSecret }) as const;

/** Any value: the code that uses it validates it. */
export const any = () => value("anything", () => true);

/** Makes an option required. */
export const required = <R extends OptionRule>(rule: R) =>
  ({ ...rule, presence: "required" }) as With<R, "required">;
/** Gives an option a default. */
export const preset = <R extends OptionRule, V>(given: V, rule: R) =>
  ({ ...rule, presence: "preset", preset: given }) as With<R, "preset"> & { readonly preset: V };
/** Adds checks that the shape cannot express. @param faults Their paths start at the value: empty, or with a dot. */
export const refined = <R extends OptionRule, V>(rule: R, faults: (given: V) => readonly OptionProblem[]) =>
  ({ ...rule, faults }) as R & { readonly faults: (given: V) => readonly OptionProblem[] };
