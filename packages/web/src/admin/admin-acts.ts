import { type Images, isServiceError, type Release, ServiceError } from "@outrigger/core";
import { parsedUrl } from "@outrigger/core/values";
import type { TextKey } from "../texts.ts";

/** Images of a page, and of pasted links. */
export const MAX_IMAGES = 100;
export const MAX_REASON = 1000;

/** What can be done about images. The catalogue has the words of the button, and what the result says. */
const ACTS = ["accept", "refuse", "withhold", "release", "keep", "deny", "allow", "remove"] as const;

export type ActName = (typeof ACTS)[number];
const NEEDS_REASON: readonly ActName[] = ["withhold", "refuse", "deny"];
/** Acts that cannot be undone. */
export const FINAL: readonly ActName[] = ["refuse", "remove"];

/** A form that was sent: an act on the chosen images, or a search for pasted links. */
export interface Acts {
  /** `null`: the images are only to be shown. */
  act: ActName | null;
  ids: string[];
  reason: string;
  /** Absent: none. */
  authority?: string;
  /** Whether identical images are withheld too, and later uploads of them refused. Of a release: whether it undoes all of that. */
  copies: boolean;
}

export interface ActResult {
  id: string;
  /** Why the act failed; `null`: it is done. */
  failure: string | null;
  /** What a release with copies did to other images. */
  others?: Release;
}

/** Reads a form. Its values are untrusted. */
export function readActs(
  fields: Readonly<Record<string, unknown>>,
): Acts | { problem: TextKey; count?: number } {
  const text = (name: string) => (typeof fields[name] === "string" ? fields[name].trim() : "");
  const act = text("act");
  const [reason, authority] = [text("reason"), text("authority")];
  if (act === "find") {
    const found = idsIn(text("links"));
    if (found.length === 0) return { problem: "admin.noLink" };
    if (found.length > MAX_IMAGES) return { problem: "admin.tooManyLinks" };
    return { act: null, ids: found, reason, copies: false };
  }
  const shown = idsIn(text("shown")).slice(0, MAX_IMAGES);
  const ids = text("all") === "yes" ? shown : shown.filter((id) => text(id) === "yes");
  if (!isAct(act)) return { problem: "admin.noAct" };
  if (ids.length === 0) return { problem: "admin.noneChosen" };
  if (reason.length > MAX_REASON || (NEEDS_REASON.includes(act) && reason === "")) {
    return { problem: "admin.noReason" };
  }
  if (authority !== "" && !/^https?:$/.test(parsedUrl(authority)?.protocol ?? "")) {
    return { problem: "admin.wrongAuthority" };
  }
  if (FINAL.includes(act) && text("confirm") !== "yes") {
    return { problem: "admin.unconfirmed", count: ids.length };
  }
  const copies = text(act === "release" ? "together" : "copies") === "yes";
  return { act, ids, reason, copies, ...(authority === "" ? {} : { authority }) };
}

function isAct(name: string): name is ActName {
  return ACTS.some((act) => act === name);
}

/** The image IDs in a text, each once: alone, or in a URL. The name of a host is none. */
function idsIn(text: string): string[] {
  return [...new Set(text.match(/(?<![\w-]|:\/\/)[\w-]{22}(?![\w-])/g))];
}

/** Performs an act on each image. An unexpected failure rejects once no other act is under way. */
export async function performActs(
  images: Images,
  { act, ids, reason, authority, copies }: Acts,
  by: string | undefined,
): Promise<ActResult[]> {
  if (act === null) return [];
  const operator = by === undefined ? {} : { by };
  const failures = new Map<string, ServiceError>();
  const others = new Map<string, Release>();
  const listed = act === "deny" ? (await images.newest({ ids })).images : [];
  const bytesOf = new Map(listed.map(({ id, sha256 }) => [id, sha256]));
  await images.changeMany(ids, async (id, each) => {
    const acts: Record<ActName, () => Promise<unknown>> = {
      accept: () => each.accept(id, operator),
      refuse: () => each.refuse(id, reason, operator),
      withhold: () => each.withhold(id, { reason, copies, ...(authority && { authority }), ...operator }),
      keep: () =>
        images.reports.decide(id, {
          decision: "kept",
          ...(reason === "" ? {} : { note: reason }),
          ...operator,
        }),
      async deny() {
        const sha256 = bytesOf.get(id) ?? "";
        // Of an ended image, no more than its end is known.
        if (sha256 === "") throw new ServiceError("not_found", "There is no such image, or it is gone");
        await images.deny({ sha256, reason, ...operator });
      },
      async allow() {
        for (const sha256 of (await images.sameBytes(id)).denied) await images.allow({ sha256, ...operator });
      },
      release: async () => void others.set(id, await each.release(id, { copies, ...operator })),
      remove: () => each.remove(id, operator),
    };
    await acts[act]().catch((error) => {
      if (!isServiceError(error)) throw error;
      failures.set(id, error);
    });
  });
  return ids.map((id) => {
    const done = others.get(id);
    return { id, failure: failures.get(id)?.message ?? null, ...(done && { others: done }) };
  });
}
