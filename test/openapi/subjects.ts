import { multipart } from "./multipart.ts";
import type { ApiSite } from "./sites.ts";
import { flatPng } from "./tiny-files.ts";

/** The subject of a call. */
export interface Subject {
  id: string;
  pin: string;
}

/** An image that can be served. */
export async function readyImage(site: ApiSite, file = flatPng(), type = "image/png"): Promise<Subject> {
  return createdBy(site, { file, type, headers: {} });
}

/** An image that no process works on. */
export async function processingImage(site: ApiSite): Promise<Subject> {
  return createdBy(site, { file: flatPng(), type: "image/png", headers: { Prefer: "respond-async" } });
}

export async function deletedImage(site: ApiSite): Promise<Subject> {
  const subject = await readyImage(site);
  const answer = await site.maker.send({
    method: "DELETE",
    target: `/api/images/${subject.id}.json`,
    headers: { "X-Service-Image-Pin": subject.pin },
  });
  if (answer.status !== 204) throw new Error(`Not deleted: ${answer.status}`);
  return subject;
}

export async function withheldImage(site: ApiSite): Promise<Subject> {
  const subject = await readyImage(site);
  await site.maker.images.withhold(subject.id, {
    reason: "A court said so.",
    authority: "https://court.example/1",
  });
  return subject;
}

async function createdBy(
  site: ApiSite,
  { file, type, headers }: { file: Buffer; type: string; headers: Record<string, string> },
): Promise<Subject> {
  const form = multipart([{ name: "imagedata", value: file, fileName: "tiny", type }]);
  const { status, body } = await site.maker.send({
    method: "POST",
    target: "/api/images.json",
    headers: { "User-Agent": "OutriggerTest/1.0", "Content-Type": form.type, ...headers },
    body: form.body,
  });
  if (status !== 201 && status !== 202) throw new Error(`Not created: ${status} ${body}`);
  const { id, pin } = JSON.parse(body.toString("utf8"));
  return { id, pin };
}
