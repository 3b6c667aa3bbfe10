import type { Call, Reply } from "../../../contracts/call.ts";
import type { EditView } from "../../../contracts/pages.ts";
import { ServiceError } from "../../../errors.ts";
import { changeImage } from "../../library/change-image.ts";
import { removeImage } from "../../life/end-image.ts";
import { editUrl, imageUrl } from "../../record/image-links.ts";
import type { ImageRecord } from "../../record/image-record.ts";
import type { CurrentRecord } from "../../record/image-records.ts";
import type { RequestParameters } from "../image-context.ts";
import { baseUrl, type ImageContext } from "../image-context.ts";
import { changeOf, type EditFaults, readInput } from "./edit-input.ts";

/** The address of the edit page contains the PIN, so it must not reach caches, nor other sites as a referrer. */
export const SECRET_PAGE_HEADERS = { "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" };

/** Applies the form of the edit page, or returns the messages about its fields. Rejects as the library does. */
export async function applyForm(
  context: ImageContext,
  call: Call,
  current: CurrentRecord,
  parameters: RequestParameters,
  pin: string,
): Promise<Reply | { faults: EditFaults }> {
  const { id } = current.record;
  const base = baseUrl(context, call);
  switch (parameters.get("action")) {
    case "delete":
      if (!parameters.get("confirm")) return { faults: { confirm: "Tick the box to confirm." } };
      await removeImage(context.library, current);
      return seeOther(`${imageUrl(base, id)}/view?done=delete`);
    case "update": {
      const { settings } = context;
      const result = changeOf(
        current.record,
        readInput(current.record, parameters),
        settings.now(),
        settings,
      );
      if ("faults" in result) return result;
      const { change } = result;
      const changed = (["name", "description", "expiresAt", "focus"] as const).filter(
        (field) => change[field] !== undefined,
      );
      if (changed.length > 0) await changeImage(context.library, current, change);
      return seeOther(`${editUrl(base, id, pin)}&done=${changed.join("-") || "nothing"}`);
    }
    default:
      throw new ServiceError("bad_request", "action must be update or delete");
  }
}

/** The notice above the form. `done` comes from the redirect after the form was sent. */
export function noticeFor(record: ImageRecord, done: unknown): Pick<EditView, "notice"> {
  if (record.held) {
    return {
      notice: "This image waits for review. You can delete it now; editing is available once it is accepted.",
    };
  }
  if (record.processing !== null) {
    return {
      notice:
        "This image is still processing. You can delete it now; editing is available when processing ends.",
    };
  }
  const changed = String(done ?? "").split("-");
  if (changed.includes("nothing")) return { notice: "No changes to save." };
  const { description, expiresAt, focus } = record;
  const expiry = expiresAt === null ? null : new Date(expiresAt).toISOString();
  const notices = {
    name: "Name updated.",
    description: description === undefined ? "Description removed." : "Description updated.",
    expiresAt: expiry === null ? "The image no longer expires." : `Expiry changed to ${expiry}.`,
    focus: focus === undefined ? "Focal point removed." : "Focal point updated.",
  };
  const said = Object.entries(notices).filter(([field]) => changed.includes(field));
  return said.length === 0 ? {} : { notice: said.map(([, notice]) => notice).join(" ") };
}

function seeOther(location: string): Reply {
  return { status: 303, headers: { Location: location, "Content-Length": "0", ...SECRET_PAGE_HEADERS } };
}
