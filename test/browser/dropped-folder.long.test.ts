import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually, shareUploadPage } from "./upload-page.ts";

const shared = shareUploadPage();

test("the files in a dropped folder and its folders are uploaded", async () => {
  const folder = await mkdtemp(join(tmpdir(), "outrigger-drop-"));
  try {
    await mkdir(join(folder, "trip", "deep"), { recursive: true });
    await writeFile(join(folder, "trip", "one.jpg"), shared.photo);
    await writeFile(join(folder, "trip", "deep", "two.jpg"), shared.photo);
    await shared.onPage(async (page) => {
      const session = await page.context().newCDPSession(page);
      const data = { items: [], files: [join(folder, "trip")], dragOperationsMask: 1 };
      for (const type of ["dragEnter", "dragOver"] as const)
        await session.send("Input.dispatchDragEvent", { type, x: 100, y: 400, data });
      await eventually(() => page.locator(".dragging").count()).toBe(1);
      await session.send("Input.dispatchDragEvent", { type: "drop", x: 100, y: 400, data });
      await page.getByRole("heading", { name: "2 images are ready to share" }).waitFor();
      expect(await page.locator(".dragging").count()).toBe(0);
      expect((await page.locator(".entry .title").allTextContents()).sort()).toEqual(["one.jpg", "two.jpg"]);
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
