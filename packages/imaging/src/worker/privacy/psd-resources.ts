const signatures = new Set(["8BIM", "MeSa", "PHUT", "AgHg", "DCSR"]);

/** Where an image resource stands in its section, with its name and padding. */
export interface PsdResource {
  id: number;
  start: number;
  end: number;
}

/**
 * Walks the image resources of a PSD up to the end of their section or to the first that cannot be followed. Never throws.
 *
 * Source: Adobe Photoshop File Formats Specification, "Image Resource Blocks".
 */
export function* readPsdResources(section: Buffer): Generator<PsdResource, void> {
  let start = 0;
  while (start + 12 <= section.length && isSignatureAt(section, start)) {
    const nameBytes = 1 + section.readUInt8(start + 6);
    const sizeAt = start + 6 + nameBytes + (nameBytes % 2);
    if (sizeAt + 4 > section.length) return;
    const dataBytes = section.readUInt32BE(sizeAt);
    const dataEnd = sizeAt + 4 + dataBytes;
    // Data are padded to an even length, which some writers forget.
    const padding = isSignatureAt(section, dataEnd) ? 0 : dataBytes % 2;
    const end = Math.min(dataEnd + padding, section.length);
    yield { id: section.readUInt16BE(start + 4), start, end };
    start = end;
  }
}

function isSignatureAt(section: Buffer, position: number): boolean {
  return signatures.has(section.toString("latin1", position, position + 4));
}
