import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSelfSigned } from "../backends/self-signed.ts";
import { type Listening, listen } from "../support/listen.ts";
import { pngPhoto } from "../support/pictures.ts";
import { type StartedProcess, startProcess } from "../support/start-process.ts";
import { printed } from "./printed-images.ts";
import { start } from "./served.ts";

const BIN = new URL("../../packages/server/bin/outrigger.js", import.meta.url);

let cwd: string;
let files: Listening;
/** `https://127.0.0.1:port` */
let origin: string;
let server: StartedProcess;

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "outrigger-import-"));
  const { certificate, key } = await createSelfSigned(cwd);
  const photo = await pngPhoto(60, 40);
  files = await listen(
    createServer({ cert: await readFile(certificate), key: await readFile(key) }, (req, res) => {
      res.writeHead(req.url?.startsWith("/dusk.png") ? 200 : 404).end(photo);
    }),
  );
  origin = files.origin.replace("http:", "https:");
  const images = { importUrls: { internalHosts: [`127.0.0.1:${files.port}`] } };
  await writeFile(join(cwd, "outrigger.config.json"), JSON.stringify({ port: 0, images }));
  // The authority of an intranet, as operators add it.
  server = await startProcess([BIN, "serve"], { cwd, env: { NODE_EXTRA_CA_CERTS: certificate } });
});
afterAll(async () => {
  await server.kill();
  await files.close();
  await rm(cwd, { recursive: true, force: true });
});

describe("the command upload with URLs", () => {
  it("uploads images from HTTPS, next to files, and prints no query", async () => {
    await writeFile(join(cwd, "photo.png"), await pngPhoto(30, 20));
    const urls = [
      `${origin}/dusk.png?key=hidden`,
      `${origin}/missing.png?key=hidden`,
      "https://10.0.0.1/a.png",
    ];
    const to = ["--json", "--to", server.announced];
    const { code, stdout, stderr } = await start(["upload", ...urls, "photo.png", ...to], { cwd }).ended;
    expect(code).toBe(1);
    expect(printed(stdout).map(({ file, name, type }) => [file, name, type])).toEqual([
      [`${origin}/dusk.png`, "dusk.png", "image/png"],
      ["photo.png", "photo.png", "image/png"],
    ]);
    expect(stderr.trimEnd().split("\n")).toEqual([
      expect.stringContaining(`${origin}/missing.png: The file at url could not be fetched`),
      expect.stringContaining("https://10.0.0.1/a.png: The file at url could not be fetched"),
    ]);
    expect(stdout + stderr + server.output()).not.toContain("hidden");
  });
});
