import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { withSite } from "../support/service.ts";
import { DAY_MS, photoForAll, printed } from "./printed-images.ts";
import { serveForAll } from "./served.ts";

const site = serveForAll();
const { run } = site;
const { uploaded } = photoForAll(site);

describe("the commands edit and rm", () => {
  it("upload, edit and get keep an image for ever with --expires never, where the service permits it", async () => {
    const refused = await run(["upload", "photo.png", "--expires", "never"]);
    expect([refused.code, refused.stdout]).toEqual([1, ""]);
    expect(refused.stderr).toContain("--expires must be a date at most 365 days from now");
    await withSite({ maxLifetimeMs: null }, async ({ base }) => {
      const to = ["--to", base, "--json"];
      const [kept] = printed((await run(["upload", "photo.png", "--expires", "never", ...to])).stdout);
      const [dated] = printed((await run(["edit", kept?.editUrl ?? "", "--expires", "2d", "--json"])).stdout);
      const again = await run(["edit", kept?.editUrl ?? "", "--expires", "never"]);
      const [read] = printed((await run(["get", kept?.id ?? "", ...to])).stdout);
      expect([kept?.expiresAt, read?.expiresAt]).toEqual([null, null]);
      expect(dated?.expiresAt).toMatch(/^\d{4}-/);
      expect(again.stdout).toMatch(/^\s*Expires:? +never$/m);
    });
  });

  it("upload and edit take a description, get prints it, and an empty one removes it", async () => {
    const text = 'Two "boats"\nat dusk \u001b[31m';
    const { editUrl, id, description } = await uploaded("--description", text);
    expect(description).toBe('Two "boats" at dusk [31m');
    expect((await run(["get", id, "--json"])).stdout).toContain(
      '"description":"Two \\"boats\\" at dusk [31m"',
    );
    const edited = await run(["edit", editUrl, "--description", "A harbour."]);
    expect(edited.stdout).toMatch(/^\s*Description:? +A harbour\.$/m);
    const removed = await run(["edit", editUrl, "--description", ""]);
    expect([removed.code, removed.stdout]).toEqual([0, expect.not.stringContaining("Description")]);
    const [{ description: none } = { description: undefined }] = printed(
      (await run(["get", id, "--json"])).stdout,
    );
    expect(none).toBeNull();
  });

  it("edit and rm take the PIN from the address, the environment or --pin, and never print it", async () => {
    const [{ id, url, pin, editUrl }, other] = await Promise.all([uploaded(), uploaded()]);
    const wrongPin = "0123456789ABCDEF";
    const [named, dated, refused, none, odd] = await Promise.all([
      run(["edit", editUrl, "--name", "sunset\u001b[31m.png"]),
      run(["edit", other.url, "--expires", "2d", "--json"], { OUTRIGGER_PIN: other.pin }),
      run(["edit", url, "--pin", wrongPin, "--name", "x"]),
      run(["edit", url, "--name", "x"], { XDG_STATE_HOME: join(site.cwd(), "other") }),
      run(["rm", `${url}/edit?pin=hush-hush`, "--yes"], { OUTRIGGER_PIN: "hush hush" }),
    ]);
    expect([named.code, named.stderr]).toEqual([0, ""]);
    // The service strips control characters.
    expect(named.stdout).toMatch(/^sunset\[31m\.png {2}image\/png/);
    const expiresMs = Date.parse(printed(dated.stdout)[0]?.expiresAt ?? "");
    expect(Math.abs(expiresMs - Date.now() - 2 * DAY_MS)).toBeLessThan(DAY_MS / 24);
    expect([refused.code, refused.stderr]).toEqual([1, `outrigger: ${id}: The PIN is wrong\n`]);
    for (const { code, stderr } of [none, odd]) {
      expect([code, stderr]).toEqual([2, expect.stringContaining(`${id}: needs its PIN`)]);
    }
    const unknown = `${site.url()}/${"A".repeat(22)}`;
    const removed = await run(["rm", editUrl, unknown, other.url, editUrl, "--yes"], {
      OUTRIGGER_PIN: other.pin,
    });
    expect([removed.code, removed.stdout]).toEqual([1, `${id} deleted\n${other.id} deleted\n`]);
    expect(removed.stderr).toBe(`outrigger: ${"A".repeat(22)}: There is no such image (${site.url()})\n`);
    const [again, gone, unasked] = await Promise.all([
      run(["rm", editUrl, "--yes"]),
      run(["get", url]),
      run(["rm", editUrl]),
    ]);
    expect([again.code, again.stderr]).toEqual([1, `outrigger: ${id}: This image was deleted\n`]);
    expect([gone.code, gone.stderr]).toEqual([1, `outrigger: ${id}: This image was deleted\n`]);
    expect([unasked.code, unasked.stderr]).toEqual([2, expect.stringContaining("--yes: is required")]);
    for (const { stdout, stderr } of [named, dated, refused, none, odd, removed, again, gone, unasked]) {
      for (const secret of [pin, other.pin, wrongPin, "hush"]) expect(stdout + stderr).not.toContain(secret);
    }
  });
});
