import { changeSubjects } from "../../../lookup/change-subjects.ts";
import { subjectsOf } from "../../../lookup/lookup-subjects.ts";
import { type DataFlags, withLookup } from "../../../lookup/with-lookup.ts";

/** `outrigger contacts erase`: forgets addresses, and domains with all of theirs, until they are imported again. */
export async function erase(texts: readonly string[], flags: DataFlags): Promise<void> {
  const subjects = subjectsOf(texts);
  await withLookup(flags, false, async ({ lookup, contacts }) => {
    await changeSubjects(subjects, async (subject) => {
      const wasKnown = subject.includes("@")
        ? await lookup.erase(subject)
        : await contacts.eraseDomain(subject);
      return { isDone: wasKnown, said: wasKnown ? "erased" : "nothing is known of it" };
    });
  });
}
