import { readFile } from "node:fs/promises";
import { programs, run } from "../../support/programs.ts";
import { addressOf, type Created, type Site } from "../../support/service.ts";
import { sha256 } from "../crash/image-client.ts";

/** What the test knows of an image that existed before, or was uploaded during, the copy. */
export interface CopiedImage extends Pick<Created, "id" | "pin"> {
  /** SHA-256 of the stored original, hex. */
  sha256: string;
  /** All names that the image had or may have had, in order. */
  names: string[];
  /**
   * Index of the first name that the copy may hold; earlier names were replaced, and acknowledged, before the copy
   * began. `null`: uploaded during the copy.
   */
  firstName: number | null;
  /** Whether the test has requested its deletion. */
  isDeleted: boolean;
}

const SLOW = "--bwlimit=1500";

/**
 * Runs the commands of docs/operating.md on other directories, slowly.
 * @param isOnce omits the second copy of the records.
 * @returns the complaints of the commands.
 */
export async function copyAsDocumented(from: string, to: string, isOnce: boolean): Promise<string[]> {
  const page = await readFile(new URL("../../../docs/operating.md", import.meta.url), "utf8");
  const script = [...page.matchAll(/```sh\n(.*?)```/gs)].map(([, text]) => text ?? "").find(isRecipe) ?? "";
  const commands = script
    .replace(isOnce ? /^\(cd .*\n.*\n/m : "", "")
    .replaceAll(/\brsync\b/g, `${programs.rsync} ${SLOW}`)
    .replaceAll("/var/lib/outrigger", from)
    .replaceAll("/backup", to);
  const { stderr } = await run("/bin/sh", ["-c", commands]);
  return stderr.split("\n").filter((line) => line !== "" && !line.includes("vanished"));
}

function isRecipe(script: string): boolean {
  return script.startsWith("rsync");
}

export async function rename(site: Pick<Site, "base">, image: CopiedImage, name: string): Promise<number> {
  const response = await fetch(addressOf(site, image.id, "json"), {
    method: "PATCH",
    headers: { "Content-Type": "application/json", "X-Service-Image-Pin": image.pin },
    body: JSON.stringify({ name }),
  });
  await response.arrayBuffer();
  return response.status;
}

export async function originalOf(site: Pick<Site, "base">, id: string): Promise<string> {
  const response = await fetch(addressOf(site, id, "png"));
  const bytes = Buffer.from(await response.arrayBuffer());
  return response.status === 200 ? sha256(bytes) : `${response.status}`;
}

/** Faults of an image in a copy; empty if it is in a state that it had during the copying. */
export async function examineCopy(site: Pick<Site, "base">, image: CopiedImage): Promise<string[]> {
  const response = await fetch(addressOf(site, image.id, "json"));
  const body = (await response.json()) as { name?: string };
  const original = await originalOf(site, image.id);
  if (response.status !== 200) {
    const isAllowed =
      (response.status === 410 && image.isDeleted) || (response.status === 404 && image.firstName === null);
    return isAllowed && original === `${response.status}`
      ? []
      : [`${image.id} answers ${response.status}, and ${original} for its bytes`];
  }
  const violations: string[] = [];
  const allowed = image.names.slice(image.firstName ?? 0);
  if (!allowed.includes(body.name ?? "")) violations.push(`${image.id} is called ${body.name}`);
  if (original !== image.sha256) violations.push(`${image.id} has other bytes: ${original}`);
  const status = await rename(site, image, "After the restore");
  if (status !== 200) violations.push(`${image.id} cannot be edited with its PIN: ${status}`);
  return violations;
}
