import { ServiceError } from "@outrigger/core/values";
import { openTiff, type TiffDirectory } from "./tiff-directory.ts";

/** Description, make, model, software, date, artist, computer, XMP, copyright, IPTC, Photoshop, EXIF, GPS. */
const personalTags = [270, 271, 272, 305, 306, 315, 316, 700, 33432, 33723, 34377, 34665, 34853];
/** Values of a raw's photometric interpretation (DNG 1.7), and compressions of Sony, Epson, Samsung, Nikon, Kodak and Pentax. */
const rawValues = new Set([32803, 34892, 32767, 32769, 32770, 34713, 65000, 65535]);
/** Others are not examined. */
const MAX_DIRECTORIES = 200;

/**
 * The picture of a TIFF: the first page that is no thumbnail or mask, else the first such directory below a page. Throws
 * `unsupported_media` for a camera raw photo, and for thumbnails alone.
 * @returns `place` as options of sharp, the count of pages that are pictures, and whether fields have metadata.
 *
 * Sources: TIFF 6.0, section 8; TIFF Technical Note 1; DNG 1.7.
 */
export function findTiffPicture(bytes: Buffer) {
  const pages = listPages(bytes);
  const all = pages.flat();
  const pictures = pages.filter((page) => page.slice(0, 1).some(isPicture));
  const page = pictures[0] ?? pages.find((directories) => directories.some(isPicture));
  const isOther = all.some(isRaw);
  if (isOther || (page === undefined && all.length > 0)) {
    const kind = isOther ? "a camera raw photo" : "only a thumbnail, as camera raw photos have it";
    throw new ServiceError("unsupported_media", `This is ${kind}; convert it to PNG or JPEG first`);
  }
  const subifd = (page?.findIndex(isPicture) ?? 0) - 1;
  return {
    place: {
      page: page === undefined ? 0 : pages.indexOf(page),
      ...(subifd < 0 ? {} : { tiff: { subifd } }),
    },
    pictures: pictures.length,
    isPersonal: all.some(({ fields }) => personalTags.some((tag) => fields.has(tag))),
  };
}

/** The directories of each page: its own, then those below it. */
function listPages(bytes: Buffer): TiffDirectory[][] {
  const tiff = openTiff(bytes, [42, 43]);
  const pages: TiffDirectory[][] = [];
  for (let at = tiff?.first ?? 0, left = MAX_DIRECTORIES; tiff && at > 0 && left > 0; ) {
    const page = tiff.read(at);
    const below = page.fields.get(330)?.values.map(tiff.read) ?? [];
    pages.push([page, ...below]);
    left -= 1 + below.length;
    at = page.next;
  }
  return pages;
}

/** By its photometric interpretation, compression or `DNGVersion`. */
function isRaw({ fields }: TiffDirectory): boolean {
  return fields.has(50706) || [259, 262].some((tag) => rawValues.has(fields.get(tag)?.values[0] ?? 0));
}

/** By `NewSubfileType` (the bits of thumbnails and masks) and `SubfileType`. */
function isPicture({ fields }: TiffDirectory): boolean {
  return ((fields.get(254)?.values[0] ?? 0) & 5) === 0 && fields.get(255)?.values[0] !== 2;
}
