import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { freePort } from "../support/listen.ts";
import { jpegPhoto } from "../support/pictures.ts";
import { type StartedProcess, startProcess } from "../support/start-process.ts";
import { blocksIn, ROOT, readPages } from "./pages.ts";

/** What a reader of the page has: the names of `given.ts`, for real. */
const GIVEN: Readonly<Record<string, string>> = {
  AppModule: `import { Module } from "@nestjs/common";\nclass AppModule {}\nModule({})(AppModule);\n`,
};

/**
 * Programs of docs/mounting.md by the package that they mount Outrigger in, with the host's own reply to `GET /`. test/published runs the
 * others.
 */
const HOSTS = [["@nestjs/core", 404]] as const;

interface Created {
  url: string;
  pin: string;
  name: string;
  links: { json: string; jpg: string; png: string };
}

const blocks = blocksIn(await readPages(), "js").filter(({ page }) => page === "docs/mounting.md");

describe.each(HOSTS)("the program of docs/mounting.md for %s", (name, ownStatus) => {
  let directory: string;
  let app: StartedProcess;
  let base: string;

  beforeAll(async () => {
    const block = blocks.find(({ code }) => code.includes(`from "${name}"`));
    if (block === undefined) throw new Error(`docs/mounting.md has no program for ${name}`);
    directory = await mkdtemp(join(tmpdir(), "outrigger-host-"));
    const port = await freePort();
    base = `http://127.0.0.1:${port}`;
    await symlink(join(ROOT, "node_modules"), join(directory, "node_modules"));
    const program = block.code.replace("3000", String(port));
    expect(program).not.toBe(block.code);
    const given = block.given === null ? "" : GIVEN[block.given];
    await writeFile(join(directory, "app.mjs"), `${given}${program}\nconsole.log("${base} ");\n`);
    app = await startProcess(["app.mjs"], { cwd: directory });
  });

  afterAll(async () => {
    await app?.kill();
    await rm(directory, { recursive: true, force: true });
  });

  async function upload(bytes: Buffer): Promise<Response> {
    const form = new FormData();
    form.set("imagedata", new File([new Uint8Array(bytes)], "Grüße.jpg", { type: "image/jpeg" }));
    return fetch(`${base}/img/api/images.json`, { method: "POST", body: form });
  }

  test("the host answers its own addresses and unknown ones", async () => {
    expect((await fetch(base)).status).toBe(ownStatus);
    expect((await fetch(`${base}/img/unknown`)).status).toBe(404);
    expect((await fetch(`${base}/imgx`)).status).toBe(404);
  });

  test("an image is uploaded, read, resized, edited and deleted at addresses below the mount", async () => {
    const picture = await jpegPhoto();
    const created = await upload(picture);
    // 202: the renderer is not ready within two seconds of its start.
    expect([201, 202]).toContain(created.status);
    const { url, pin, name, links } = (await created.json()) as Created;
    expect(url).toMatch(new RegExp(`^${base}/img/[\\w-]{22}$`));
    expect([name, created.headers.get("location")]).toEqual(["Grüße.jpg", url]);
    const isReady = async () => expect((await fetch(links.jpg, { method: "HEAD" })).status).toBe(200);
    await vi.waitFor(isReady, 20_000);
    const { size } = (await (await fetch(links.json)).json()) as { size: number };

    const whole = await fetch(links.jpg);
    const bytes = Buffer.from(await whole.arrayBuffer());
    expect([whole.status, bytes.length, whole.headers.get("content-length")]).toEqual([200, size, `${size}`]);
    const etag = whole.headers.get("etag") ?? "";
    expect((await fetch(links.jpg, { headers: { "If-None-Match": etag } })).status).toBe(304);
    const part = await fetch(links.jpg, { headers: { Range: "bytes=5-9" } });
    expect([part.status, Buffer.from(await part.arrayBuffer())]).toEqual([206, bytes.subarray(5, 10)]);
    const small = await fetch(`${links.png}?resize=100x100`);
    expect([small.status, small.headers.get("content-type")]).toEqual([200, "image/png"]);
    expect((await small.arrayBuffer()).byteLength).toBe(Number(small.headers.get("content-length")));

    const change = (method: string, key: string) =>
      fetch(links.json, {
        method,
        headers: { "Content-Type": "application/json", "X-Service-Image-Pin": key },
        body: JSON.stringify({ name: "pier" }),
      });
    expect((await change("PATCH", "0000000000000000")).status).toBe(403);
    expect((await change("PATCH", pin)).status).toBe(200);
    expect(await (await fetch(links.json)).json()).toMatchObject({ name: "pier" });
    expect((await change("DELETE", pin)).status).toBe(204);
    expect((await fetch(links.jpg)).status).toBe(410);
  });

  test("bodies that are wrong or too long are answered, and the host still works", async () => {
    expect((await upload(Buffer.from("no picture"))).status).toBe(415);
    expect((await upload(Buffer.alloc(30_000_000))).status).toBe(413);
    expect((await upload(await jpegPhoto())).status).toBeLessThan(203);
  });
});
