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
          : ["nothing is stored of an acknowledged image"];
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
    // The bytes may remain: they are not served, and are swept later. On a full disk the record is removed and written
    // anew; earlier unflushed changes are not in force.
    needs: (path, error) => error !== "ENOSPC" && (path.startsWith("tmp/") || path.endsWith("/record@")),
    async check(later, answer) {
      // A delete that failed halfway may stay in force: its owner wants the image gone.
      image.states = isDone(answer) ? ["gone"] : ["alive", "gone"];
      const { violations } = await look(later, image);
      const next = await remove(later, image.key);
      if (next?.status !== 204 && next?.status !== 410) violations.push(`the next delete: ${next?.status}`);
      image.states = ["gone"];
      return [...violations, ...(await look(later, image)).violations];
    },
  };
}

/** Reads an image that was edited once, so that its record exists in more than one place. */
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

/** The states allowed: the old one after a refusal, the new one after a success, either without a reply. */
function statesAfter(answer: Answer | null, old: ImageState, next: ImageState): ImageState[] {
  if (answer === null) return [old, next];
  return [isDone(answer) ? next : old];
}
