import { createImagesClient } from "@outrigger/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startSite } from "../support/quick-site.ts";
import type { Site } from "../support/service.ts";
import { idsIn, photo, refusalOf } from "./image-client.ts";
import { fileOf } from "./sources.ts";

let site: Site;
beforeAll(async () => {
  site = await startSite({
    publicUrl: "https://public.example/img",
    authorize: (_call, action) => action !== "create",
    convertUploads: [],
  });
});
afterAll(() => site.close());

const client = () => createImagesClient({ baseUrl: site.base, maxRetries: 0 });

test("upload with a ticket, bare or in an address, resolves with an image without PIN and edit address", async () => {
  for (const form of [
    (url: string) => url,
    (url: string) => url.replace("https://public.example/img", ""),
    (url: string) => url.replace("api/images.json?", "#"),
    (url: string) => url.replace(/.*=/, ""),
  ]) {
    const { url } = await site.images.ticket({ name: "Receipt" });
    const created: object[] = [];
    const given = { ticket: form(url), onCreated: (image: object) => created.push(image) };
    const image = await client().upload(fileOf(photo), given);
    expect(image).toMatchObject({ name: "Receipt", status: "ready" });
    for (const each of [image, ...created]) {
      expect(each).not.toHaveProperty("pin");
      expect(each).not.toHaveProperty("editUrl");
    }
    expect(created).toHaveLength(1);
    expect((await client().upload(fileOf(photo), { ticket: url })).id).toBe(image.id);
  }
  expect(await idsIn(site)).toHaveLength(4);
});

test("upload with a ticket that waits for its image keeps the PIN that the ticket permits", async () => {
  const waiting = await startSite({ asyncAfterMs: 0 });
  for (const pin of [true, false]) {
    const { url } = await waiting.images.ticket({ pin });
    const image = await createImagesClient({ baseUrl: waiting.base }).upload(fileOf(photo), { ticket: url });
    expect([image.status, image.pin !== undefined, image.editUrl !== undefined]).toEqual(["ready", pin, pin]);
  }
  await waiting.close();
});

test("upload with a ticket resolves with the stored image though the host refuses reads, and an upload without one rejects", async () => {
  let permits = false;
  const closed = await startSite({
    asyncAfterMs: 0,
    authorize: (_call, action) => permits && action === "create",
  });
  const { images, base } = closed;
  const { url: ticket } = await images.ticket();
  const image = await createImagesClient({ baseUrl: base }).upload(fileOf(photo), { ticket });
  expect(image).toMatchObject({ status: "processing", id: (await idsIn(closed))[0] });
  permits = true;
  const refused = await refusalOf(createImagesClient({ baseUrl: base }).upload(fileOf(photo)));
  expect(refused.status).toBe(403);
  await closed.close();
});

test("upload with a ticket that was used or is wrong rejects with the reason, which has no ticket", async () => {
  const { url } = await site.images.ticket();
  await client().upload(fileOf(photo), { ticket: url });
  const used = await refusalOf(client().upload(fileOf(photo.subarray(0, -1)), { ticket: url }));
  expect(used).toMatchObject({ status: 409, detail: expect.stringContaining("This ticket was sent before") });
  const wrong = await refusalOf(client().upload(fileOf(photo), { ticket: `${url}A` }));
  expect(wrong).toMatchObject({ status: 403, detail: expect.stringContaining("The ticket is not valid") });
  expect((await refusalOf(client().upload(fileOf(photo)))).status).toBe(403);
  for (const ticket of ["", "a b", "https://public.example/img", "a/../b", `${url}&x=1`]) {
    await expect(client().upload(fileOf(photo), { ticket })).rejects.toThrow(
      new TypeError("ticket must be an upload ticket, or the address of one"),
    );
  }
});
