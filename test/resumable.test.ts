import { getRequestListener } from "@hono/node-server";
import { toFetchHandler } from "@outrigger/fetch";
import { beforeAll, describe, expect, test } from "vitest";
import { serveHost } from "./support/listen.ts";
import { jpegPhoto } from "./support/pictures.ts";
import { startSite } from "./support/quick-site.ts";
import { beginByTus, sendByTus, storeUpTo, tus } from "./support/resume.ts";
import { bytesOf } from "./support/service.ts";

/** The listener would replace Request and Response for all files of this process. */
const OWN_GLOBALS = { overrideGlobalObjects: false };

let photo: Buffer;
beforeAll(async () => {
  photo = await jpegPhoto();
});

const SECRETS = ["x-service-image-pin", "x-service-image-edit-url", "x-service-image-id", "link"];

describe.each(["Express 5", "Koa 3", "node:http", "fetch"] as const)("resumable uploads in %s", (name) => {
  test("tus-js-client sends a picture in pieces, and gets the headers of a create", async () => {
    const isFetch = name === "fetch";
    const site = await startSite({ resumable: true, ...(isFetch ? {} : { host: name }) });
    const handler = toFetchHandler(site.images, { prefix: "/img", clientAddress: () => "127.0.0.1" });
    const host = isFetch ? await serveHost(getRequestListener(handler, OWN_GLOBALS), "/img") : site;
    try {
      const sent = await sendByTus(host, photo, { chunkSize: 50_000, metadata: { name: "Dusk" } });
      expect(sent.status).toBe(204);
      expect(sent.url).toMatch(new RegExp(`^${host.base}/api/uploads/[A-Za-z0-9_-]{22}$`));
      const image = sent.header("location") ?? "";
      expect(image).toBe(sent.header("x-service-image-url"));
      for (const header of SECRETS) expect(sent.header(header), header).toBeTruthy();
      const id = sent.header("x-service-image-id");
      const { bytes } = await bytesOf(`${host.base}/api/images/${id}.json`);
      expect(JSON.parse(bytes.toString())).toMatchObject({
        name: "Dusk",
        type: "image/jpeg",
        status: "ready",
      });
      const state = await tus("HEAD", sent.url);
      expect(state.status).toBe(200);
      for (const header of [...SECRETS, "location"])
        expect(state.headers.get(header)).toBe(sent.header(header));
      expect(site.errors).toEqual([]);
    } finally {
      if (isFetch) await host.close();
      await site.close();
    }
  });

  test("an upload that is cut at 60 % resumes there", async () => {
    const isFetch = name === "fetch";
    const site = await startSite({ resumable: true, keepMetadata: true, ...(isFetch ? {} : { host: name }) });
    const handler = toFetchHandler(site.images, { prefix: "/img", clientAddress: () => "127.0.0.1" });
    const host = isFetch ? await serveHost(getRequestListener(handler, OWN_GLOBALS), "/img") : site;
    try {
      const url = await beginByTus(host, photo.length);
      const cut = Math.floor(photo.length * 0.6);
      await storeUpTo(url, photo, cut);
      const sent = await sendByTus(host, photo, { uploadUrl: url });
      const { bytes } = await bytesOf(`${host.base}/api/images/${sent.header("x-service-image-id")}.jpg`);
      expect(bytes.equals(photo)).toBe(true);
      expect(site.errors).toEqual([]);
    } finally {
      if (isFetch) await host.close();
      await site.close();
    }
  });
});
