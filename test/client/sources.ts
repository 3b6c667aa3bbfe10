/** A picture as a browser page has it. */
export function fileOf(bytes: Uint8Array, name = "photo.jpg", type = "image/jpeg"): File {
  return new File([new Uint8Array(bytes)], name, { type });
}
