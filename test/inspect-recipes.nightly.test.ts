// Nightly: starts a real ClamAV, which loads for a minute.
import * as childProcess from "node:child_process";
import { spawn } from "node:child_process";
import * as events from "node:events";
import { once } from "node:events";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import * as net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as consumers from "node:stream/consumers";
import { buffer } from "node:stream/consumers";
import * as promises from "node:stream/promises";
import { createImages, createMemoryBlobStore, type Images } from "@outrigger/core";
import { createRenderer } from "@outrigger/imaging";
import { expect, onTestFinished, test } from "vitest";
import { listen } from "./support/listen.ts";
import { pngPhoto } from "./support/pictures.ts";
import { programs } from "./support/programs.ts";

const guide = await readFile(new URL("../docs/recipes.md", import.meta.url), "utf8");
const MODULES: Record<string, unknown> = {
  "node:child_process": childProcess,
  "node:events": events,
  "node:net": net,
  "node:stream/consumers": consumers,
  "node:stream/promises": promises,
};

/** The images of a recipe. @param title its heading @param change edits its code, e.g. an address */
async function imagesOf(title: string, change: (code: string) => string): Promise<Images> {
  const [, section = ""] = guide.split(`### ${title}\n`);
  const [, code = ""] = /^```js\n(.*?)^```$/ms.exec(section) ?? [];
  const changed = change(code);
  expect(changed).not.toBe(code);
  const body = changed.replace(
    /^import (\{.*\}) from "(.*)";$/gm,
    (_, names, name) => `const ${names} = MODULES[${JSON.stringify(name)}];`,
  );
  const options = {
    storage: createMemoryBlobStore(),
    renderer: createRenderer(),
    secret: "0123456789abcdef0123456789abcdef",
    onError: () => undefined,
  };
  const run = new Function("MODULES", "createImages", "options", `${body}\nreturn images;`);
  const images = run(MODULES, createImages, options);
  onTestFinished(() => images.close());
  return images;
}

async function directory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "outrigger-inspect-"));
  onTestFinished(() => rm(path, { recursive: true }));
  return path;
}

/** What the service says about an upload: its state, or the reason of its refusal. */
async function outcomeOf(images: Images, bytes: Buffer): Promise<string> {
  return images.add(bytes).then(
    ({ status }) => status,
    (error) => `${error.code}: ${error.message}`,
  );
}

const drawing = (text: string) =>
  Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"><text y="20">${text}</text></svg>`,
  );

test("the recipe for ClamAV refuses what a real clamd finds, accepts the rest, and holds what it cannot scan", async () => {
  const home = await directory();
  const socket = join(home, "clamd.ctl");
  // A signature of our own: the real database is hundreds of megabytes, and needs the internet.
  const signature = Buffer.from("harmless sample of a virus").toString("hex");
  await writeFile(join(home, "test.ndb"), `Sample.Virus:0:*:${signature}\n`);
  const config = [
    `LocalSocket ${socket}`,
    `DatabaseDirectory ${home}`,
    "Foreground yes",
    "StreamMaxLength 100K",
  ];
  await writeFile(join(home, "clamd.conf"), `${config.join("\n")}\n`);
  await chmod(home, 0o755);
  const clamd = spawn(programs.clamd, ["--config-file", join(home, "clamd.conf")], { stdio: "pipe" });
  const ended = once(clamd, "close");
  onTestFinished(async () => {
    clamd.kill("SIGKILL");
    await ended;
  });
  await expect
    .poll(() => new Promise((resolve) => net.connect(socket, () => resolve(true)).on("error", resolve)), {
      timeout: 30_000,
    })
    .toBe(true);
  const images = await imagesOf("Scan for malware with ClamAV", (code) =>
    code.replace("/run/clamav/clamd.ctl", socket),
  );
  expect(await outcomeOf(images, await pngPhoto(40, 30))).toBe("ready");
  expect(await outcomeOf(images, drawing("a harmless sample of a virus"))).toBe(
    "forbidden: This file contains malware.",
  );
  expect(await outcomeOf(images, await pngPhoto())).toBe("held");
  clamd.kill("SIGKILL");
  await ended;
  expect(await outcomeOf(images, drawing("no scanner runs"))).toBe("held");
});

test("the recipe for a command judges by its exit code, and holds the image if it fails or is missing", async () => {
  const command = join(await directory(), "check-picture");
  const script =
    'grep -q REFUSE "$1" && exit 1\ngrep -q HOLD "$1" && exit 2\ngrep -q FAIL "$1" && exit 3\nexit 0\n';
  await writeFile(command, `#!/bin/sh\n${script}`, { mode: 0o755 });
  const change = (path: string) => (code: string) => code.replace("/usr/local/bin/check-picture", path);
  const images = await imagesOf("Inspect with a command", change(command));
  expect(await outcomeOf(images, drawing("a flower"))).toBe("ready");
  expect(await outcomeOf(images, drawing("REFUSE"))).toBe("forbidden: This picture is not allowed here.");
  expect(await outcomeOf(images, drawing("HOLD"))).toBe("held");
  expect(await outcomeOf(images, drawing("FAIL"))).toBe("held");
  const missing = await imagesOf("Inspect with a command", change(`${command}-elsewhere`));
  expect(await outcomeOf(missing, drawing("a flower"))).toBe("held");
});

test("the recipe for an HTTP classifier judges by the score of a server, and holds the image if that fails", async () => {
  const server = createServer(async (req, res) => {
    const body = (await buffer(req)).toString("latin1");
    expect(req.headers["content-type"]).toBe("image/svg+xml");
    const score = Number(/score ([\d.]+)/.exec(body)?.[1]);
    res.writeHead(Number.isNaN(score) ? 500 : 200, { "content-type": "application/json" });
    res.end(JSON.stringify({ score }));
  });
  const { origin, close } = await listen(server);
  onTestFinished(close);
  const images = await imagesOf("Inspect with an HTTP classifier", (code) =>
    code.replace("http://127.0.0.1:8090", origin),
  );
  expect(await outcomeOf(images, drawing("score 0.2"))).toBe("ready");
  expect(await outcomeOf(images, drawing("score 0.8"))).toBe("held");
  expect(await outcomeOf(images, drawing("score 0.99"))).toBe("forbidden: This picture is not allowed here.");
  expect(await outcomeOf(images, drawing("no figure"))).toBe("held");
});
