import type { SavedImage } from "../../saved/saved-image.ts";
import type { SavedImages } from "./saved-images.ts";

/** Recognises files that this browser has uploaded before, by their name and SHA-256. A renamed copy is another file. */
export interface KnownFiles {
  /** The saved image of the same file; `null` if there is none. */
  find(file: File): Promise<SavedImage | null>;
  /** Saves the hash of the file that an image was uploaded from. */
  remember(id: string, file: File): Promise<void>;
}

export function createKnownFiles(saved: SavedImages): KnownFiles {
  return {
    async find(file) {
      const candidates = saved.list.value.filter(
        ({ file: known, leaving, unavailable }) =>
          known?.size === file.size &&
          known.name === file.name &&
          leaving === undefined &&
          unavailable === undefined,
      );
      // Reading large files takes time: only where name and size are the same.
      const hash = candidates.length === 0 ? null : await hashOf(file);
      return candidates.find(({ file: known }) => known?.sha256 === hash) ?? null;
    },
    async remember(id, file) {
      const sha256 = await hashOf(file);
      if (sha256 !== null) saved.change(id, { file: { name: file.name, size: file.size, sha256 } });
    },
  };
}

/** SHA-256 in hex; `null` when the file cannot be read, and on pages without TLS, where browsers have no `crypto.subtle`. */
async function hashOf(file: File): Promise<string | null> {
  try {
    const digest = await crypto.subtle.digest("SHA-256", await file.arrayBuffer());
    return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  } catch {
    // The file has changed or vanished since it was chosen, or there is no `crypto.subtle`: it counts as new.
    return null;
  }
}
