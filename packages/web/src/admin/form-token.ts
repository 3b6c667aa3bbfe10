import { createHash, timingSafeEqual } from "node:crypto";
import type { Images } from "@outrigger/core";

/** How long a form may be open. */
const LIFE_MS = 12 * 3_600_000;

/**
 * A token for the forms of an operator: the time of its end, and a signature. Every node of the service can check it, since it is the
 * signature of an address. Its image cannot exist: the ID is a hash of the operator's name.
 */
export function formToken(images: Pick<Images, "address">, by: string | undefined): Promise<string> {
  return tokenUntil(images, by, Date.now() + LIFE_MS);
}

export async function checkToken(
  images: Pick<Images, "address">,
  by: string | undefined,
  token: unknown,
): Promise<boolean> {
  const [, until = ""] = (typeof token === "string" && /^(\d{13})\.[\w-]+$/.exec(token)) || [];
  if (typeof token !== "string" || !(Number(until) > Date.now())) return false;
  const expected = Buffer.from(await tokenUntil(images, by, Number(until)));
  const given = Buffer.from(token);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

async function tokenUntil(images: Pick<Images, "address">, by = "", until: number): Promise<string> {
  const id = createHash("sha256").update(`outrigger admin form: ${by}`).digest("base64url").slice(0, 22);
  const address = await images.address(id, { format: "png" }, { read: true, until });
  return `${until}.${new URL(address, "https://page.invalid").searchParams.get("s")}`;
}
