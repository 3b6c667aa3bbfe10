/** What a storage URL says behind its question mark, as text. */
export type UrlParameters<Name extends string> = Partial<Record<Name, string>>;

/**
 * Reads the parameters of a storage URL.
 * @throws TypeError for one that is not among `names` or comes twice. It is not repeated: behind a question mark that should
 * have been encoded stands the rest of a password.
 */
export function readParameters<const Name extends string>(
  url: URL,
  names: readonly Name[],
): UrlParameters<Name> {
  const values: UrlParameters<Name> = {};
  for (const [given, value] of url.searchParams) {
    const name = names.find((each) => each === given);
    if (name === undefined || values[name] !== undefined) {
      throw new TypeError(`must have no parameters but ${names.join(", ")}, each at most once`);
    }
    values[name] = value;
  }
  return values;
}

/** @throws TypeError unless `text`, where there is one, is a whole number in the range. */
export function readWhole(name: string, text: string | undefined, least: number, most: number) {
  if (text === undefined) return undefined;
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new TypeError(`must have a whole number from ${least} to ${most} as ${name}`);
}

/** @throws TypeError unless `text`, where there is one, is `true` or `false`. */
export function readFlag(name: string, text: string | undefined) {
  if (text === undefined) return undefined;
  if (text === "true" || text === "false") return text === "true";
  throw new TypeError(`must have true or false as ${name}`);
}
