/** Whether this is a long run (`npm run soak`), in which tests do many times what they otherwise do a few times. */
export const isSoak = process.env.OUTRIGGER_SOAK === "1";

const isNightly = process.env.OUTRIGGER_TEST_TIER === "nightly";

/** The hosts, storages or samples that a test goes through: `part` in a full run, `all` in a nightly run and a soak. */
export function partOf<const T>(all: readonly T[], part: readonly NoInfer<T>[]): readonly T[] {
  return isSoak || isNightly ? all : part;
}

/** Every `step`th of these in a full run, all in a nightly run and a soak. */
export function everyNth<T>(all: readonly T[], step: number): readonly T[] {
  return partOf(
    all,
    all.filter((_, index) => index % step === 0),
  );
}

/** How often, or how long: `quick` in every run of the tests, `long` in a soak. */
export function amount(quick: number, long: number): number {
  return isSoak ? long : quick;
}
