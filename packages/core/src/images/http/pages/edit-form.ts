import type { Call, Reply } from "../../../contracts/call.ts";
import type { EditView } from "../../../contracts/pages.ts";
import { ServiceError } from "../../../errors.ts";
import { changeImage, type ImageChange, removeImage } from "../../library/change-image.ts";
import { parseExpiry, parseName } from "../../record/image-fields.ts";
import { editUrl, imageUrl } from "../../record/image-links.ts";
import type { ImageRecord } from "../../record/image-record.ts";
import type { CurrentRecord } from "../../record/image-records.ts";
import { baseUrl, type ImageContext } from "../image-context.ts";
import type { Parameters } from "../read-body.ts";

/** The address of the edit page contains the PIN, so it must not reach caches, nor other sites as a referrer. */
export const SECRET_PAGE_HEADERS = { "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" };

/** A date and time without a zone, as browsers send it. The form asks for UTC. */
const WITHOUT_ZONE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?$/;

/** Applies the form of the edit page. Rejects with `bad_request` and `conflict`. */
export async function applyForm(
  context: ImageContext,
  call: Call,
  current: CurrentRecord,
  parameters: Parameters,
  pin: string,
): Promise<Reply> {
  const { id } = current.record;
  const base = baseUrl(context, call);
  switch (parameters.get("action")) {
    case "delete":
      if (!parameters.get("confirm"))
        throw new ServiceError("bad_request", "Tick the box to confirm the deletion");
      await removeImage(context.library, current);
      return seeOther(`${imageUrl(base, id)}/view?done=delete`);
    case "update": {
      const change = onlyNew(current.record, changeOf(context, parameters));
      const changed = (["name", "expiresAt"] as const).filter((field) => change[field] !== undefined);
      if (changed.length > 0) await changeImage(context.library, current, change);
      return seeOther(`${editUrl(base, id, pin)}&done=${changed.join("-") || "nothing"}`);
    }
    default:
      throw new ServiceError("bad_request", "action must be update or delete");
  }
}

/** The notice above the form. `done` comes from the redirect after the form was sent. */
export function noticeFor(record: ImageRecord, done: unknown): Pick<EditView, "notice"> {
  if (record.processing !== null) {
    return {
      notice: "This image is still being processed. It can be deleted now, and changed once it is ready.",
    };
  }
  const changed = String(done ?? "").split("-");
  if (changed.includes("nothing"))
    return { notice: "Nothing was changed: name and expiry are the same as before." };
  const said = [
    ...(changed.includes("name") ? ["The new name is saved."] : []),
    ...(changed.includes("expiresAt")
      ? [`The new expiry is saved: ${new Date(record.expiresAt).toISOString()}.`]
      : []),
  ];
  return said.length === 0 ? {} : { notice: said.join(" ") };
}

function changeOf({ settings }: ImageContext, parameters: Parameters): ImageChange {
  const change: ImageChange = {};
  const name = parseName(parameters.get("name"));
  if (name !== undefined) change.name = name;
  const now = settings.now();
  const expiresIn = parameters.get("expiresIn");
  const isGiven = expiresIn !== undefined && expiresIn !== "";
  if (isGiven && !(typeof expiresIn === "string" && /^\d{1,15}$/.test(expiresIn)))
    throw new ServiceError("bad_request", "expiresIn must be milliseconds from now, in digits");
  const wanted = isGiven ? String(now + Number(expiresIn)) : inUtc(parameters.get("expiresAt"));
  const expiresAt = parseExpiry(wanted, "form", now, settings);
  if (expiresAt !== undefined) change.expiresAt = expiresAt;
  return change;
}

function inUtc(date: unknown): unknown {
  return typeof date === "string" && WITHOUT_ZONE.test(date.trim()) ? `${date.trim()}Z` : date;
}

/** Drops unchanged fields: the form always sends the name. */
function onlyNew(record: ImageRecord, { name, expiresAt }: ImageChange): ImageChange {
  return {
    ...(name === undefined || name === record.name ? {} : { name }),
    ...(expiresAt === undefined || expiresAt === record.expiresAt ? {} : { expiresAt }),
  };
}

function seeOther(location: string): Reply {
  return {
    status: 303,
    headers: { Location: location, "Content-Length": "0", ...SECRET_PAGE_HEADERS },
  };
}
