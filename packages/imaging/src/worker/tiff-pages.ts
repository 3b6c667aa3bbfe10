import { ServiceError } from "@outrigger/core/values";
import { unreadable } from "./picture.ts";
import { BIG_TIFF, openTiff, TIFF, type TiffDirectory } from "./tiff-directory.ts";

const Tag = {
  newSubfileType: 254,
  subfileType: 255,
  compression: 259,
  photometric: 262,
  subDirectories: 330,
  dngVersion: 50706,
} as const;
/** Place, camera, author, dates and the like, and metadata in other formats. */
const personalTags = [270, 271, 272, 305, 306, 315, 316, 700, 33432, 33723, 34377, 34665, 34853];
/** Sensor values, by colour filter or linear (DNG 1.7, chapter 6). */
const rawPhotometrics = new Set([32803, 34892]);
/** Compressions of Sony, Epson, Samsung, Nikon, Kodak and Pentax. */
const rawCompressions = new Set([32767, 32769, 32770, 34713, 65000, 65535]);
/** Bits of `NewSubfileType`: a thumbnail, and a mask. */
const NO_PICTURE = 1 | 4;
/** The value of `SubfileType` for a thumbnail. */
const OLD_REDUCED = 2;
/** Those beyond are not examined. */
const MAX_DIRECTORIES = 200;

interface TiffPicture {
  /** Where the picture is, as options of sharp. */
  place: { page: number; tiff?: { subifd: number } };
  /** How many pages are pictures. */
  pictures: number;
  /** Whether the fields of the file have metadata. */
  isPersonal: boolean;
}

/**
 * Finds the picture of a TIFF: the first page that is neither a thumbnail nor a mask, else the first such directory below a page.
 * Throws `unsupported_media` for a camera raw photo, and without a picture.
 *
 * Sources: TIFF 6.0, section 8; TIFF Technical Note 1.
 */
export function findTiffPicture(bytes: Buffer): TiffPicture {
  const pages = listPages(bytes);
  if (pages.flat().some(isRaw)) {
    throw new ServiceError(
      "unsupported_media",
      "This is a camera raw photo; convert it to PNG or JPEG first",
    );
  }
  const isPersonal = pages.flat().some(({ fields }) => personalTags.some((tag) => fields.has(tag)));
  const pictures = pages.filter(([page]) => isPicture(page)).length;
  const page = pages.findIndex(
    (directories) => directories.some(isPicture) && (pictures === 0 || isPicture(directories[0])),
  );
  if (page < 0 && pages.length > 0) {
    throw unreadable("image/tiff", "it has only a thumbnail, as a camera raw photo");
  }
  const subifd = pages[page]?.findIndex(isPicture) ?? 0;
  const place = { page: Math.max(0, page), ...(subifd > 0 ? { tiff: { subifd: subifd - 1 } } : {}) };
  return { place, pictures, isPersonal };
}

/** The directories of each page: its own, and those below it. */
function listPages(bytes: Buffer): [TiffDirectory, ...TiffDirectory[]][] {
  const tiff = openTiff(bytes, [TIFF, BIG_TIFF]);
  const pages: [TiffDirectory, ...TiffDirectory[]][] = [];
  for (let at = tiff?.first ?? 0, left = MAX_DIRECTORIES; tiff !== null && at !== 0 && left > 0; ) {
    const page = tiff.read(at);
    const below = valuesOf(page, Tag.subDirectories).slice(0, left).map(tiff.read);
    pages.push([page, ...below]);
    left -= 1 + below.length;
    at = page.next;
  }
  return pages;
}

function isRaw(directory: TiffDirectory): boolean {
  const [photometric = 0] = valuesOf(directory, Tag.photometric);
  const [compression = 0] = valuesOf(directory, Tag.compression);
  const isCoded = rawPhotometrics.has(photometric) || rawCompressions.has(compression);
  return isCoded || directory.fields.has(Tag.dngVersion);
}

function isPicture(directory: TiffDirectory): boolean {
  const [kind = 0] = valuesOf(directory, Tag.newSubfileType);
  const [oldKind = 0] = valuesOf(directory, Tag.subfileType);
  return (kind & NO_PICTURE) === 0 && oldKind !== OLD_REDUCED;
}

function valuesOf({ fields }: TiffDirectory, tag: number): readonly number[] {
  return fields.get(tag)?.values ?? [];
}
