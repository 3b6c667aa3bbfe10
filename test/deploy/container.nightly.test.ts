// Nightly: builds a container from a bare Debian.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chown, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { jpeg } from "../../packages/server/test/outrigger-process.ts";
import { buildImage, type Image, openDirectory, whyNoBareRoot } from "../support/bare-root.ts";
import { freePort } from "../support/listen.ts";
import { programs } from "../support/programs.ts";

const trouble = whyNoBareRoot();
const remark = trouble === null ? "" : ` (${trouble})`;
const CONTEXT = fileURLToPath(new URL("../../", import.meta.url));
const DOCKERFILE = join(CONTEXT, "examples/deploy/Dockerfile");

/** The steps run on the packages that this checkout has built, so that the build finds nothing to do. */
describe.skipIf(trouble !== null)(`the steps of the Dockerfile in a bare Debian root${remark}`, () => {
  let image: Image;
  let place: Awaited<ReturnType<typeof openDirectory>>;
  let volume: string;
  let port: string;

  beforeAll(async () => {
    place = await openDirectory();
    image = await buildImage(await readFile(DOCKERFILE, "utf8"), CONTEXT, place.path);
    volume = join(place.path, "volume");
    await mkdir(volume, { mode: 0o700 });
    await chown(volume, 1000, 1000);
    port = String(await freePort());
  }, 900_000);
  afterAll(() => place?.remove());

  /** Runs a command as the container does: as its user, with a read-only root, the volume, and process IDs of its own. */
  function start(command: string[], more: Record<string, string> = {}) {
    expect(image.user).toBe("node");
    const variables = Object.entries({ ...image.environment, OUTRIGGER_PORT: port, ...more });
    const child = spawn("setpriv", [
      ...["--reuid", "1000", "--regid", "1000", "--clear-groups", programs.bwrap],
      ...["--ro-bind", image.root, "/", "--bind", volume, image.volumes[0] ?? "", "--tmpfs", "/tmp"],
      ...["--proc", "/proc", "--dev", "/dev", "--unshare-pid", "--as-pid-1", "--chdir", image.directory],
      ...["--clearenv", ...variables.flatMap(([name, value]) => ["--setenv", name, value])],
      ...command,
    ]);
    const output = { text: "" };
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => {
        output.text += text;
      });
    const ended = once(child, "close").then(([code]) => code);
    return { child, output, ended };
  }
  const health = () => start(image.health.map((word) => word.replace(":3000/", `:${port}/`))).ended;
  async function serve(more: Record<string, string> = {}) {
    const server = start(image.command, more);
    await expect.poll(() => server.output.text, { timeout: 30_000 }).toContain("Outrigger listens on");
    return {
      ...server,
      /** Signals Node, which is a child of bubblewrap. */
      async stop() {
        const { pid } = server.child;
        const [node = ""] = (await readFile(`/proc/${pid}/task/${pid}/children`, "utf8")).split(" ");
        expect(await readFile(`/proc/${node}/status`, "utf8")).toMatch(/^NSpid:\t\d+\t1$/m);
        process.kill(Number(node), "SIGTERM");
        return server.ended;
      },
    };
  }

  test("the server stores images in its volume only, is healthy, and ends with 0 on SIGTERM as process 1", async () => {
    expect(await health()).toBe(1);
    const server = await serve();
    const base = `http://127.0.0.1:${port}`;
    const secure = { "X-Forwarded-Proto": "https" };
    expect(await health()).toBe(0);
    const form = new FormData();
    form.set("imagedata", new File([new Uint8Array(await jpeg())], "a.jpg", { type: "image/jpeg" }));
    const init = { method: "POST", body: form, headers: { ...secure, "User-Agent": "Flow/1.0" } };
    const created = await fetch(`${base}/api/images.json`, init);
    expect(created.status).toBe(201);
    const { id } = (await created.json()) as { id: string };
    const read = () => fetch(`${base}/api/images/${id}.png?resize=20x`, { headers: secure });
    expect((await read()).headers.get("content-type")).toBe("image/png");
    expect(await server.stop()).toBe(0);
    const again = await serve({ OUTRIGGER_EXISTING: "true" });
    expect((await read()).status).toBe(200);
    expect(await again.stop()).toBe(0);
  });

  test("an empty volume is refused with OUTRIGGER_EXISTING, and the root is read-only", async () => {
    const { output, ended } = start(image.command, {
      OUTRIGGER_EXISTING: "true",
      OUTRIGGER_DATA: "/tmp/empty",
    });
    expect([await ended, output.text]).toEqual([1, expect.stringContaining("/tmp/empty")]);
    const touched = start(["touch", join(image.directory, "file")]);
    expect([await touched.ended, touched.output.text]).toEqual([1, expect.stringContaining("Read-only")]);
  });
});
