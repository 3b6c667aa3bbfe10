import { describe, expect, it } from "vitest";
import { images } from "../../../../test/images-command.ts";
import { jpeg, serve, temporaryDirectory, uploaded } from "../../../../test/outrigger-process.ts";

describe("outrigger images rm", () => {
  it("deletes images of a running server at once, and reports an image already deleted", async () => {
    const cwd = await temporaryDirectory();
    const url = await serve(cwd).url;
    const [first, second] = [await uploaded(url, await jpeg()), await uploaded(url, await jpeg())];
    const address = `${url}/api/images/${second.id}.png`;
    expect(await images(cwd, "rm", "--yes", first.id, address)).toEqual({
      code: 0,
      stdout: `${first.id} deleted\n${second.id} deleted\n`,
      stderr: "",
    });
    expect((await fetch(first.url)).status).toBe(410);
    expect((await fetch(address)).status).toBe(410);
    expect(await images(cwd, "rm", "--yes", first.id)).toEqual({
      code: 1,
      stdout: "",
      stderr: `outrigger: ${first.id}: This image was deleted.\n`,
    });
    expect((await images(cwd, "list", "--state", "deleted", "--json")).stdout.split("\n")).toHaveLength(3);
    const { stdout } = await images(cwd, "stats", "--json");
    expect(JSON.parse(stdout)).toMatchObject({ images: 2, bytes: 0, states: { deleted: 2, ready: 0 } });
  });

  it("deletes nothing without --yes and without a terminal", async () => {
    const cwd = await temporaryDirectory();
    const url = await serve(cwd).url;
    const image = await uploaded(url, await jpeg());
    const refused = await images(cwd, "rm", image.id);
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect(refused.stderr).toContain("--yes: is required");
    expect((await fetch(image.url)).status).toBe(200);
  });
});
