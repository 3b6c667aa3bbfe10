import { expect, test } from "vitest";
import { postWithHeaders } from "../../support/post-with-headers.ts";
import { addressOf, type Created } from "../../support/service.ts";
import { ALLOWANCES } from "../deployment.ts";
import { fetchBytes } from "../fetch-bytes.ts";
import type { Stage } from "./stage.ts";

/** Owners named by the host app, and their limits. */
export function describeOwners(stage: Stage): void {
  /**
   * This many uploads at once, through both services. @returns the stored images; all others were refused for lack of
   * room.
   */
  async function uploadMany(owner: string, count: number): Promise<Created[]> {
    const { one, other } = stage.deployment;
    const headers = { "X-User": owner };
    const answers = await Promise.all(
      Array.from({ length: count }, async (_, index) => {
        const answer = await postWithHeaders(
          index % 2 === 0 ? one : other,
          stage.material.small,
          "image/png",
          headers,
        );
        return { status: answer.status, body: (await answer.json()) as Created };
      }),
    );
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 403));
    return answers.filter(({ status }) => status === 201).map(({ body }) => body);
  }

  test("an owner gets exactly the allowed number of images, through whichever service", async () => {
    const { one, other } = stage.deployment;
    const stored = await uploadMany("anna", 8);
    expect(stored).toHaveLength(ALLOWANCES.anna?.images ?? 0);
    expect(await uploadMany("anna", 2)).toEqual([]);
    const [first] = stored;
    const address = addressOf(other, first?.id ?? "", "json");
    const remove = async (headers: Record<string, string>) =>
      (await fetchBytes(address, { method: "DELETE", headers })).status;
    expect(await remove({})).toBe(403);
    expect(await remove({ "X-User": "berta" })).toBe(403);
    expect((await fetchBytes(addressOf(one, first?.id ?? "", "png"))).status).toBe(200);
    expect(await remove({ "X-User": "anna" })).toBe(204);
    expect(await uploadMany("anna", 4)).toHaveLength(1);
  });

  test("an owner gets exactly the allowed bytes, and room again once an image has ended", async () => {
    const { one, clock } = stage.deployment;
    const allowed = Math.floor((ALLOWANCES.berta?.bytes ?? 0) / stage.material.small.length);
    expect(allowed).toBeGreaterThan(1);
    expect(await uploadMany("berta", 6)).toHaveLength(allowed);
    clock.now += 86_400_000;
    await one.images.sweep();
    expect(await uploadMany("berta", 6)).toHaveLength(allowed);
  });
}
