/** A picture as acknowledged to the client that uploaded it. */
export interface HeldPicture {
  id: string;
  pin: string;
  bytes: Buffer;
}

/** `Prefer` and the like. */
type Headers = Record<string, string>;

const USER_AGENT = "DiskTest/1.0";

/** Uploads a PNG. */
export function send(
  base: string,
  bytes: Buffer,
  { name, expiresAt }: { name: string; expiresAt?: number },
  headers: Headers = {},
): Promise<Response> {
  const form = new FormData();
  form.set("name", name);
  if (expiresAt !== undefined) form.set("expiresAt", `${expiresAt}`);
  form.set("imagedata", new Blob([new Uint8Array(bytes)], { type: "image/png" }), "picture.png");
  return fetch(`${base}/api/images.json`, {
    method: "POST",
    body: form,
    headers: { "User-Agent": USER_AGENT, ...headers },
  });
}

/** The fields about the picture in the head of a 201 or 202 reply. */
export function pictureIn({ headers }: Response): Pick<HeldPicture, "id" | "pin"> {
  return {
    id: headers.get("x-service-image-id") ?? "",
    pin: headers.get("x-service-image-pin") ?? "",
  };
}

/** The picture that a 201 or 202 reply acknowledges, once the reply is complete. */
export async function heldFrom(response: Response, bytes: Buffer): Promise<HeldPicture> {
  await response.arrayBuffer();
  return { ...pictureIn(response), bytes };
}

/** Changes fields of the record. */
export function edit(
  base: string,
  { id, pin }: Pick<HeldPicture, "id" | "pin">,
  change: { name?: string; expiresAt?: number },
): Promise<Response> {
  return fetch(`${base}/api/images/${id}.json`, {
    method: "PATCH",
    body: JSON.stringify(change),
    headers: { "User-Agent": USER_AGENT, "Content-Type": "application/json", "X-Service-Image-Pin": pin },
  });
}

export function remove(base: string, { id, pin }: Pick<HeldPicture, "id" | "pin">): Promise<Response> {
  return fetch(`${base}/api/images/${id}.json`, {
    method: "DELETE",
    headers: { "User-Agent": USER_AGENT, "X-Service-Image-Pin": pin },
  });
}

/** The current reply for a picture's bytes, or for another suffix; `body` is read to its end. */
export async function read(
  base: string,
  { id }: Pick<HeldPicture, "id">,
  suffix = "png",
): Promise<{ status: number; headers: globalThis.Headers; body: Buffer }> {
  const response = await fetch(`${base}/api/images/${id}.${suffix}`, {
    headers: { "User-Agent": USER_AGENT },
  });
  return {
    status: response.status,
    headers: response.headers,
    body: Buffer.from(await response.arrayBuffer()),
  };
}

/** The name in a picture's record. */
export async function nameOf(base: string, picture: Pick<HeldPicture, "id">): Promise<string> {
  const { status, body } = await read(base, picture, "json");
  if (status !== 200) throw new Error(`The record of ${picture.id} answers ${status}: ${body}`);
  const record = JSON.parse(body.toString()) as { name: string }; // The tests of core prove its shape.
  return record.name;
}
