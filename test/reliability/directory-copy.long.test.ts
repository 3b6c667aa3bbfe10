import { randomBytes } from "node:crypto";
import { closeSync, openSync, readdirSync, renameSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFsBlobStore, createImages } from "@outrigger/core";
import { createRenderer } from "@outrigger/imaging";
import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startHost } from "../support/hosts.ts";
import { addressOf, type Site, startSite, upload } from "../support/service.ts";
import { amount } from "../support/soak.ts";
import { type CopiedImage, copyAsDocumented, examineCopy, originalOf, rename } from "./backup/copied-site.ts";

const IMAGES = amount(20, 400);
const EDITORS = 3;
const OWNER = { owner: "a busy owner" };
const authorize = (_call: unknown, action: string) => (action === "create" ? OWNER : undefined);

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "outrigger-copy-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

/** About 70 KB of incompressible pixels. */
function picture(): Promise<Buffer> {
  return sharp(randomBytes(160 * 150 * 3), { raw: { width: 160, height: 150, channels: 3 } })
    .png({ compressionLevel: 0 })
    .toBuffer();
}

async function addImage(site: Site, isEarlier: boolean): Promise<CopiedImage> {
  const { id, pin } = await upload(site, await picture(), "image/png", { name: "As uploaded" });
  const sha256 = await originalOf(site, id);
  return { id, pin, sha256, names: ["As uploaded"], firstName: isEarlier ? 0 : null, isDeleted: false };
}

/** Treats superseded files wrongly: the name stays, the bytes are removed. */
function stubSuperseded(site: Site, { id }: CopiedImage): void {
  const chain = join(site.directory, "blobs", id.slice(0, 2), id, "record@");
  const numbers = readdirSync(chain).map((name) => Number(name.split(".")[1]));
  const life = readdirSync(chain)[0]?.split(".")[0];
  for (const number of numbers.filter((each) => each > 0 && each < Math.max(...numbers))) {
    const stub = join(site.directory, "tmp", randomBytes(8).toString("hex"));
    closeSync(openSync(stub, "wx", 0o400));
    renameSync(stub, join(chain, `${life}.${number}`));
  }
}

/** Edits, deletes and uploads images until stopped. */
async function keepBusy(site: Site, images: CopiedImage[], isOver: () => boolean, isMutant: boolean) {
  const some = (part: number, parts: number) => images.filter((_, index) => index % parts === part);
  const editing = Array.from({ length: EDITORS }, async (_, editor) => {
    const mine = some(editor, EDITORS + 1);
    for (let turn = 0; !isOver(); turn++) {
      const image = mine[turn % mine.length];
      if (image === undefined) return;
      const name = `Edit ${turn}`;
      image.names.push(name);
      expect(await rename(site, image, name)).toBe(200);
      if (isMutant) stubSuperseded(site, image);
    }
  });
  const deleting = async () => {
    for (const image of some(EDITORS, EDITORS + 1)) {
      if (isOver()) return;
      image.isDeleted = true;
      const headers = { "X-Service-Image-Pin": image.pin };
      const { status } = await fetch(addressOf(site, image.id, "json"), { method: "DELETE", headers });
      expect(status).toBe(204);
      await addTo(images);
    }
  };
  const addTo = async (list: CopiedImage[]) => void list.push(await addImage(site, false));
  const uploading = async () => {
    while (!isOver()) await addTo(images);
  };
  await Promise.all([...editing, deleting(), uploading()]);
}

/** Copies a busy store, starts a service on the copy, and reports its faults. */
async function tryCopy(isMutant: boolean): Promise<{ violations: string[]; edits: number }> {
  const site = await startSite({ authorize });
  const copy = await mkdtemp(join(root, "copy-"));
  const images = await Promise.all(Array.from({ length: IMAGES }, () => addImage(site, true)));
  for (const image of images) {
    image.firstName = image.names.push("Before the copy") - 1;
    expect(await rename(site, image, "Before the copy")).toBe(200);
  }
  let isOver = false;
  const working = keepBusy(site, images, () => isOver, isMutant);
  const violations = await copyAsDocumented(site.directory, copy, isMutant);
  isOver = true;
  await working;
  expect(site.errors).toEqual([]);
  await site.close();

  const errors: unknown[] = [];
  const restored = createImages({
    storage: createFsBlobStore({ directory: copy }),
    renderer: createRenderer(),
    authorize,
    rateLimits: false,
    asyncAfterMs: false,
    onError: (error) => errors.push(error),
  });
  await restored.reindex();
  const { failed, looked } = await restored.sweep();
  expect(looked).toBeGreaterThan(0);
  if (failed > 0) violations.push(`${failed} images could not be swept`);
  const host = await startHost("Express 5", restored, "/img");
  // One pass of rsync may lose originals of deleted images; a mutant is not about these.
  const examined = images.filter(({ isDeleted }) => !isMutant || !isDeleted);
  for (const image of examined) violations.push(...(await examineCopy(host, image)));
  if (!isMutant) {
    // The owner's count is complete, and continues.
    const before = await restored.usage(OWNER.owner);
    await upload(host, await picture(), "image/png");
    expect((await restored.usage(OWNER.owner)).images).toBe(before.images + 1);
    expect(before.images).toBeGreaterThan(IMAGES / 2);
    violations.push(...errors.map(String));
  }
  await host.close();
  await restored.close();
  return { violations, edits: images.reduce((sum, { names }) => sum + names.length - 2, 0) };
}

test("an rsync copy made during edits, deletes and uploads has each image whole, before or after an edit", async () => {
  const { violations, edits } = await tryCopy(false);
  expect(violations).toEqual([]);
  expect(edits).toBeGreaterThan(IMAGES);
});

test("the check finds lost images in the copy of a store that removes superseded bytes at once", async () => {
  const { violations } = await tryCopy(true);
  expect(violations).toContainEqual(expect.stringMatching(/answers 50\d/));
});
