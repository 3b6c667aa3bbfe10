import { type DataFlags, withLookup } from "../../../lookup/with-lookup.ts";
import { changeSubjects, subjectsOf } from "../subjects.ts";

/** The options of `outrigger suppress`. */
export interface SuppressFlags extends DataFlags {
  remove?: boolean;
}

/** `outrigger suppress`: suppresses people and domains, or ends a suppression. */
export async function suppress(
  texts: readonly string[],
  { remove = false, ...flags }: SuppressFlags,
): Promise<void> {
  const subjects = subjectsOf(texts);
  await withLookup(flags, !remove, async ({ lookup }) => {
    await changeSubjects(subjects, async (subject) => {
      if (!remove) {
        await lookup.suppress(subject);
        return { isDone: true, said: "suppressed" };
      }
      const isDone = await lookup.unsuppress(subject);
      return { isDone, said: isDone ? "no longer suppressed" : "not suppressed" };
    });
  });
}
