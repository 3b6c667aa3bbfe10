import { deepStrictEqual as equal, match, notDeepStrictEqual, ok } from "node:assert";
import { samplePdf } from "../support/pdf-samples.ts";
import type { Created, Walk } from "./flow.ts";
import type { Reply } from "./http-client.ts";

const FORMATS = [
  ["png", "image/png", /^\x89PNG\r\n/],
  ["webp", "image/webp", /^RIFF....WEBP/s],
] as const;

/** Without parameters. */
export function mediaType({ headers }: Reply): string {
  return String(headers["content-type"]).split(";", 1)[0] ?? "";
}

/** The body of a reply that must have one of these statuses. */
export function json<T = Created>(reply: Reply, ...statuses: number[]): T {
  const text = reply.body.toString();
  ok(statuses.includes(reply.status), `${reply.status}: ${text}`);
  return JSON.parse(text);
}

export async function createChecks(walk: Walk): Promise<void> {
  const { base, part, check, create, api } = walk;
  await check("POST .json answers 201 with the record", async () => {
    walk.reply = await create(part);
    // 202: a machine under load has not processed the image after two seconds.
    walk.image = json(walk.reply, 201, 202);
    match(walk.image.id, /^[\w-]{22}$/);
    await walk.untilReady(walk.image.id);
  });
  const { image, reply } = walk;
  await check("the record keeps a UTF-8 file name", () => equal(image.name, part.fileName));
  await check("Location, X-Service-Image-Url and the record name one address below the mount", () => {
    const { location, "x-service-image-url": url } = reply.headers;
    equal([location, url, image.url], Array(3).fill(`${base}/${image.id}`));
  });
  await check("X-Service-Image-Edit-Url is below the mount and has the PIN", () => {
    const { "x-service-image-edit-url": url, "x-service-image-pin": pin } = reply.headers;
    equal([url, pin], [`${base}/${image.id}/edit?pin=${image.pin}`, image.pin]);
    match(image.pin, /^[0-9A-HJKMNP-TV-Z]{16}$/);
  });
  await check("Link names the record, the edit page and a file of each format", () => {
    const link = String(reply.headers.link);
    for (const rel of ["describedby", "edit-form", "alternate"]) match(link, new RegExp(`rel="?${rel}`));
    for (const suffix of ["json", "jpg", "gif", "svg", "psd", "pdf"]) ok(link.includes(`<${api(suffix)}>`));
  });
  await check("the reply to an upload is no-store", () => equal(reply.headers["cache-control"], "no-store"));
  await check("each link of the record is below the mount", () => {
    const suffixes = Object.keys(image.links);
    ok(suffixes.length >= 7);
    equal(Object.values(image.links), suffixes.map(api));
  });
}

export async function readChecks({ check, send, api, part: { bytes } }: Walk): Promise<void> {
  for (const [suffix, type, magic] of FORMATS) {
    await check(`GET .${suffix} with resize answers a file of that type`, async () => {
      const file = await send(`${api(suffix)}?resize=100x100`);
      equal([file.status, mediaType(file)], [200, type]);
      equal(String(file.body.length), file.headers["content-length"]);
      match(file.body.toString("latin1"), magic);
      if (suffix === "png") equal([file.body.readUInt32BE(16), file.body.readUInt32BE(20)], [100, 75]);
    });
  }
  const original = await send(api("png"));
  await check("GET of the stored type answers the uploaded bytes", () =>
    equal([original.status, original.body.equals(bytes)], [200, true]),
  );
  const { etag = "" } = original.headers;
  const read = (headers: Record<string, string>) => send(api("png"), { headers });
  await check("the ETag is strong", () => match(etag, /^"[^"]+"$/));
  await check("If-None-Match with the ETag answers 304 without a body", async () => {
    const { status, body } = await read({ "If-None-Match": etag });
    equal([status, body.length], [304, 0]);
  });
  await check("Range answers 206 with those bytes", async () => {
    const { status, headers, body } = await read({ Range: "bytes=5-20" });
    equal([status, headers["content-range"]], [206, `bytes 5-20/${bytes.length}`]);
    ok(body.equals(bytes.subarray(5, 21)));
  });
  await check("HEAD answers the headers of GET without a body", async () => {
    const { status, headers, body } = await send(api("png"), { method: "HEAD" });
    equal([status, body.length], [200, 0]);
    for (const name of ["content-type", "content-length", "etag", "last-modified", "cache-control"])
      equal(headers[name], original.headers[name]);
  });
  await check("a file is sent with nosniff, a policy and its UTF-8 name", () => {
    const { headers } = original;
    equal(headers["x-content-type-options"], "nosniff");
    match(String(headers["content-security-policy"]), /default-src 'none'.*sandbox/);
    match(String(headers["content-disposition"]), /^inline;.*filename\*=UTF-8''Gr%C3%BC%C3%9Fe/);
  });
  await check("GET .json answers the record", async () => {
    const record = await send(api("json"));
    equal(record.headers["cache-control"], "no-store");
    const { width, height, size, status } = json<Record<string, unknown>>(record, 200);
    equal([width, height, size, status], [400, 300, bytes.length, "ready"]);
  });
}

export async function pageChecks({ base, check, send, image, part }: Walk): Promise<void> {
  const page = async (url: string, pattern: RegExp, accept = "text/html") => {
    const shown = await send(url, { headers: { Accept: accept } });
    equal([shown.status, mediaType(shown)], [200, "text/html"]);
    ok(pattern.test(shown.body.toString()), `The page lacks ${pattern}`);
    return shown;
  };
  await check("the image address answers the viewer to browsers", async () => {
    await page(image.url, new RegExp(`api/images/${image.id}`));
  });
  await check("the image address answers the file to other clients", async () => {
    const file = await send(image.url, { headers: { Accept: "image/*" } });
    equal([file.status, file.body.equals(part.bytes)], [200, true]);
  });
  await check("the edit page has a form and is no-store", async () => {
    const { headers } = await page(image.editUrl, /<form [^>]*method="?post/i);
    equal(headers["cache-control"], "no-store");
  });
  await check("the upload page takes files, and its assets are below the mount", async () => {
    const { body } = await page(`${base}/`, /<title>Upload/);
    const assets = [...body.toString().matchAll(/(?:src|href)="([^"]*assets\/[^"]+)"/g)].map(([, path]) =>
      String(new URL(path ?? "", `${base}/`)),
    );
    ok(assets.length > 0);
    for (const url of assets) {
      ok(url.startsWith(`${base}/assets/`), url);
      equal((await send(url)).status, 200);
    }
  });
}

export async function editChecks({ check, send, sendAsStranger, api, image }: Walk): Promise<void> {
  const nameNow = async () => json(await send(api("json")), 200).name;
  await check("the form of the edit page renames the image and answers 303", async () => {
    const page = (await send(image.editUrl)).body.toString();
    const form = [...page.matchAll(/<form .*?<\/form>/gs)]
      .map(String)
      .find((text) => text.includes('name="name"'));
    const hidden = [...String(form).matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)];
    const fields = hidden.map(([, name = "", value = ""]) => [name, value]);
    const [, address = ""] = /action="([^"]*)"/.exec(String(form)) ?? [];
    const { status, headers } = await send(new URL(address, image.editUrl).href, {
      method: "POST",
      headers: { "Content-Type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams([...fields, ["name", "Hafen"]]).toString(),
    });
    equal([status, await nameNow()], [303, "Hafen"]);
    ok(new URL(String(headers.location), image.editUrl).href.startsWith(`${image.url}/edit`));
  });
  const headers = { "X-Service-Image-Pin": image.pin, "Content-Type": "application/json" };
  await check("PATCH with the PIN answers 200 with the changed record", async () => {
    const changed = await send(api("json"), { method: "PATCH", headers, body: '{"name":"Kai"}' });
    equal([json(changed, 200).name, await nameNow()], ["Kai", "Kai"]);
  });
  await check("PATCH and DELETE with a wrong PIN answer 403 and keep the image", async () => {
    const wrong = { ...headers, "X-Service-Image-Pin": "0000000000000000" };
    const patch = { method: "PATCH", headers: wrong, body: '{"name":"Fremd"}' };
    const replies = [
      await sendAsStranger(api("json"), patch),
      await sendAsStranger(api("json"), { method: "DELETE", headers: wrong }),
    ];
    equal([...replies.map(({ status }) => status), await nameNow()], [403, 403, "Kai"]);
  });
}

/** PDFs need files of the packages that no other check reads. */
export async function pdfChecks({ base, check, send, create, untilReady }: Walk): Promise<void> {
  await check("a PDF is stored, and its second page read as JPEG", async () => {
    const colours = ["1 0 0", "0 0 1"];
    const bytes = samplePdf(colours.map((colour) => ({ content: `${colour} rg 10 10 40 20 re f` })));
    const { id } = json(await create({ bytes, type: "application/pdf", fileName: "a.pdf" }), 201, 202);
    await untilReady(id);
    const { pages, links } = json(await send(`${base}/api/images/${id}.json`), 200);
    const [first, second] = [await send(`${links.jpg}?page=1`), await send(`${links.jpg}?page=2`)];
    equal([pages, second.status, mediaType(second)], [2, 200, "image/jpeg"]);
    notDeepStrictEqual(first.body, second.body);
  });
}
