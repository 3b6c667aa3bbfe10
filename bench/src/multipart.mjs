/** @typedef {{ body: Buffer, contentType: string }} Multipart The body of an upload. */

/** @param {{ bytes: Buffer, type: string }} file @returns {Promise<Multipart>} */
export async function multipartOf({ bytes, type }) {
  const form = new FormData();
  form.set("imagedata", new Blob([new Uint8Array(bytes)], { type }), "picture");
  const encoded = new Response(form);
  const contentType = encoded.headers.get("Content-Type") ?? "";
  return { body: Buffer.from(await encoded.arrayBuffer()), contentType };
}
