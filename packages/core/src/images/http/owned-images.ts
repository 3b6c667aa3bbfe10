import { checkOptions, optionProblems } from "../../check-options.ts";
import type { Call, Reply } from "../../contracts/call.ts";
import { ServiceError } from "../../errors.ts";
import { textReply } from "../../http/text-reply.ts";
import { pick } from "../../option-rules.ts";
import type { ListedImage } from "../life/image-listing.ts";
import { NEWEST_RULES, Newest } from "../life/newest-images.ts";
import { removeOwned } from "../life/remove-owned.ts";
import { baseUrl, type ImageContext } from "./image-context.ts";

const PAGE_RULES = pick(NEWEST_RULES, ["before", "limit"]);
/** A deletion that takes longer is continued by the sweep. */
const PATIENCE_MS = 2_000;

/** `GET HEAD {base}/api/owned.json`: a page of the images of the owner that the host names, newest first. */
export async function listOwned(context: ImageContext, call: Call): Promise<Reply> {
  const { library, permissions } = context;
  const owner = await permissions.permitOwner(call, "list");
  const query = new URLSearchParams(call.search);
  const given = { before: wholeIn(query.get("before")), limit: wholeIn(query.get("limit")) };
  const [problem] = optionProblems(given, PAGE_RULES);
  if (problem !== undefined) throw new ServiceError("bad_request", `${problem.path} ${problem.text}`);
  const filter = checkOptions("newest", { ...given, owner }, NEWEST_RULES);
  const { images, next } = await new Newest(library).page(filter);
  const base = baseUrl(context, call);
  const usage = await library.owners.usage(owner);
  return json(call, 200, { usage, images: images.map((image) => shown(base, image)), next });
}

/** `DELETE {base}/api/owned.json`: deletes all images of the owner that the host names. */
export async function deleteOwned({ library, permissions }: ImageContext, call: Call): Promise<Reply> {
  const owner = await permissions.permitOwner(call, "removeAll");
  const endsAt = performance.now() + PATIENCE_MS;
  const { isDone, ...result } = await removeOwned(library, owner, () => performance.now() < endsAt);
  return json(call, isDone ? 200 : 202, result);
}

function wholeIn(text: string | null): number | undefined {
  return text === null ? undefined : /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
}

function shown(base: string, { id, name, type, size, state, createdAt, expiresAt }: ListedImage) {
  const dates = {
    createdAt: new Date(createdAt).toISOString(),
    expiresAt: expiresAt === null ? null : new Date(expiresAt).toISOString(),
  };
  return { id, name, type, size, state, ...dates, url: `${base}/${id}` };
}

function json(call: Call, status: number, body: object): Reply {
  return textReply(call, status, "application/json", JSON.stringify(body), { "Cache-Control": "no-store" });
}
