import { type Attempt, isDone, type Operation } from "./attempt.ts";
import { examine, type ImageState, wrongBytes } from "./examine.ts";
import { type Answer, ask, bytesUrl, edit, keyIn, remove, sha256, upload } from "./image-client.ts";
import { idsIn } from "./left-overs.ts";
import { changeImage, HOUR_MS, look, randomPicture, storeImage, versionOf } from "./stored-image.ts";
import { sweep } from "./sweep-operation.ts";

export const OPERATIONS = { create, edit: change, delete: removal, sweep, read } satisfies Record<
  string,
  Operation
>;

async function create(base: string, directory: string): Promise<Attempt> {
  const before = await idsIn(directory);
  const bytes = randomPicture();
  return {
    run: () => upload(base, bytes),
    needs: always,
    async check(later, answer) {
      const ids = [...(await idsIn(directory))].filter((id) => !before.has(id));
      const acknowledged = answer?.status === 201 ? keyIn(answer).id : null;
      const violations =
        acknowledged === null || ids.includes(acknowledged)
          ? []
          : ["of what was acknowledged nothing is stored"];
      const states = statesAfter(answer, "absent", "alive");
      for (const id of ids) {
        const expected = { id, contents: [sha256(bytes)], versions: null, states };
        violations.push(...(await examine(later, expected)).violations);
      }
      const next = await storeImage(later, versionOf("next", HOUR_MS));
      return [...violations, ...(await look(later, next)).violations];
    },
  };
}

async function change(base: string): Promise<Attempt> {
  const image = await storeImage(base, versionOf("as it was", HOUR_MS));
  const edited = versionOf("edited", 2 * HOUR_MS);
  return {
    run: () => edit(base, image.key, { ...edited }),
    needs: always,
    async check(later, answer) {
      if (isDone(answer)) image.versions = [edited];
      else if (answer === null) image.versions = [...image.versions, edited];
      const { violations } = await look(later, image);
      await changeImage(later, image, versionOf("edited again", 3 * HOUR_MS));
      return [...violations, ...(await look(later, image)).violations];
    },
  };
}

async function removal(base: string): Promise<Attempt> {
  const image = await storeImage(base, versionOf("to be deleted", HOUR_MS));
  return {
    run: () => remove(base, image.key),
    // That its bytes are gone as well is not: what remains of them is not served, and swept.
    // On a full disk the record is removed and made anew: what was not flushed before that is not in force.
    needs: (path, error) => error !== "ENOSPC" && (path.startsWith("tmp/") || path.endsWith("/record@")),
    async check(later, answer) {
      // One that failed halfway may stay in force: its owner wants the image to be gone.
      image.states = isDone(answer) ? ["gone"] : ["alive", "gone"];
      const { violations } = await look(later, image);
      const next = await remove(later, image.key);
      if (next?.status !== 204 && next?.status !== 410) violations.push(`the next delete: ${next?.status}`);
      image.states = ["gone"];
      return [...violations, ...(await look(later, image)).violations];
    },
  };
}

/** Of an image that has been changed once, so that its record has more than one place to look at. */
async function read(base: string): Promise<Attempt> {
  const image = await storeImage(base, versionOf("to be read", HOUR_MS));
  await changeImage(base, image, versionOf("to be read again", HOUR_MS));
  return {
    run: () => ask(bytesUrl(base, image.key.id)),
    needs: always,
    async check(later, answer) {
      const violations = answer === null ? [] : wrongBytes(answer, image.contents);
      if (answer !== null && answer.status < 500 && answer.status !== 200) {
        violations.push(`a living image answers ${answer.status}`);
      }
      return [...violations, ...(await look(later, image)).violations];
    },
  };
}

function always(): boolean {
  return true;
}

/** The allowed states: the old one after a refusal, the new one after a success, either without an answer. */
function statesAfter(answer: Answer | null, old: ImageState, next: ImageState): ImageState[] {
  if (answer === null) return [old, next];
  return [isDone(answer) ? next : old];
}
