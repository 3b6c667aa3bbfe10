import { z } from "zod";
import { secretBytes } from "./secret-text.ts";

const MIN_SECRET_BYTES = 32;
const SECRET_ERROR = `must be a text of at least ${MIN_SECRET_BYTES} bytes, or a list of such texts`;
const MAX = Number.MAX_SAFE_INTEGER;

/** A whole number, with a message that says from where to where. */
export function whole(least: number, most = MAX) {
  const upTo = most === MAX ? `from ${least}` : `from ${least} to ${most}`;
  return rule(z.number(), `must be a whole number ${upTo}`, (value) => {
    return Number.isInteger(value) && value >= least && value <= most;
  });
}

/** `error` for a value of the wrong type and for one that fails the check alike: one message says all of it. */
export function rule<T extends z.ZodType>(type: T, error: string, isRight: (value: z.output<T>) => boolean) {
  return z.custom<z.output<T>>((value) => {
    const parsed = type.safeParse(value);
    return parsed.success && isRight(parsed.data);
  }, error);
}

export function oneOf<const T extends readonly string[]>(values: T) {
  return z.enum(values, { error: `must be one of ${values.join(", ")}` });
}

export const text = (error: string) => rule(z.string(), error, (value) => value.trim() !== "");
export const flag = z.boolean({ error: "must be true or false" });
export const section = <T extends z.ZodRawShape>(shape: T) =>
  z.strictObject(shape, { error: "must be an object" });

export const limit = z.union([z.literal(false), whole(1)], {
  error: "must be false or a whole number from 1",
});

const secret = rule(z.string(), `must have at least ${MIN_SECRET_BYTES} bytes`, (value) => {
  return (secretBytes(value)?.length ?? 0) >= MIN_SECRET_BYTES;
});

export const secrets = z.union([secret, z.array(secret).min(1, SECRET_ERROR)], { error: SECRET_ERROR });
