import type { OpenableSource } from "@outrigger/client";

/** A file that is opened anew for each attempt; counts the attempts. */
export function openable(
  bytes: Uint8Array,
  more: Partial<OpenableSource> = {},
): OpenableSource & { opened(): number } {
  let opened = 0;
  return {
    name: "photo.jpg",
    type: "image/jpeg",
    size: bytes.length,
    stream() {
      opened++;
      return new Blob([new Uint8Array(bytes)]).stream();
    },
    ...more,
    opened: () => opened,
  };
}

/** A picture as a browser page has it. */
export function fileOf(bytes: Uint8Array, name = "photo.jpg", type = "image/jpeg"): File {
  return new File([new Uint8Array(bytes)], name, { type });
}
