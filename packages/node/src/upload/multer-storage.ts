import { Readable } from "node:stream";
import { type AddedImage, type AddOptions, type Images, isServiceError, problemOf } from "@outrigger/core";
import { checkValue, rules } from "@outrigger/core/stores";
import { readType } from "./host-upload.ts";
import { repairLatin1 } from "./names.ts";

/** A file that multer passes to its storage engine. */
export interface MulterFile {
  fieldname: string;
  originalname: string;
  encoding: string;
  mimetype: string;
  stream: Readable;
}

/** A storage engine of multer, by shape: this package's types need no types of multer. */
export interface OutriggerStorage {
  _handleFile(
    req: object,
    file: MulterFile,
    callback: (error?: unknown, image?: Partial<AddedImage>) => void,
  ): void;
  _removeFile(req: object, file: Partial<MulterFile>, callback: (error: Error | null) => void): void;
}

type OptionsOf<Req> = (
  req: Req,
  file: MulterFile,
) => AddOptions | undefined | Promise<AddOptions | undefined>;

const MAX_NAME_LENGTH = 255;

const images = rules.shape("an image service, such as createImages() returns", "add", "remove");

/**
 * A storage engine for multer 2 that stores each file as an image, with the admission of every upload. `req.file` gets
 * the properties of the image beside multer's own: `id`, `url`, `editUrl`, `pin`, `width`, `height`, and the rest of
 * {@link AddedImage}.
 *
 * A refused file reaches the host's error handling with the `code` of a `ServiceError`, the `status` of HTTP and the
 * name of its part as `field`. If multer rejects the request after a file was stored, the image is deleted.
 *
 * @param optionsOf Returns options of `images.add` for a file, such as its `owner`. Absent: none.
 * @example
 * ```ts
 * const upload = multer({ storage: outriggerStorage(images, (req) => ({ owner: req.user.id, expiresAt: null })) });
 * app.post("/avatar", upload.single("avatar"), (req, res) => res.json({ id: req.file.id }));
 * ```
 */
// biome-ignore lint/suspicious/noExplicitAny: without an annotation, the function can still use what the host adds to its requests.
export function outriggerStorage<Req extends object = any>(
  service: Pick<Images, "add" | "remove">,
  optionsOf?: OptionsOf<Req>,
): OutriggerStorage {
  checkValue("outriggerStorage: images", service, images);
  if (optionsOf !== undefined) checkValue("outriggerStorage: optionsOf", optionsOf, rules.fn());

  async function store(req: object, file: MulterFile): Promise<AddedImage> {
    const abort = new AbortController();
    // Beyond multer's own limit the stream ends as if it were complete.
    file.stream.once("limit", () => abort.abort(new Error("The file is over the limit of multer")));
    // The type that the caller gives its requests.
    const { signal, ...options } = (await optionsOf?.(req as Req, file)) ?? {};
    const type = readType(file.mimetype);
    const source = Readable.from(chunksOf(file.stream), { objectMode: false });
    return service.add(source, {
      name: fileNameOf(file),
      ...(type === "" ? {} : { type }),
      ...options,
      signal: signal === undefined ? abort.signal : AbortSignal.any([signal, abort.signal]),
    });
  }

  return {
    _handleFile(req, file, callback) {
      store(req, file).then(
        (image) => callback(null, image),
        (error: unknown) => {
          // Discards what has arrived of the file: multer reads the request to its end before it reports the error.
          file.stream.resume();
          callback(withStatus(error, file));
        },
      );
    },
    _removeFile(_req, file, callback) {
      const id: unknown = Reflect.get(file, "id");
      // Multer may name a file that was not stored.
      if (typeof id !== "string") return callback(null);
      service.remove(id).then(
        () => callback(null),
        (error: Error) =>
          callback(isServiceError(error, "gone") || isServiceError(error, "not_found") ? null : error),
      );
    },
  };
}

/** Does not destroy the stream: multer would take that for an error of the upload, and report it instead of ours. */
async function* chunksOf(stream: Readable): AsyncGenerator<Buffer> {
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) yield chunk;
}

/** The file name as uploads over HTTP have it: without a path, and cut. */
function fileNameOf({ originalname }: MulterFile): string {
  const name = repairLatin1(originalname)
    .replace(/^.*[/\\]/s, "")
    .normalize("NFC");
  return [...name].slice(0, MAX_NAME_LENGTH).join("");
}

/** Express takes the status of a reply from `status` or `statusCode` of an error. Multer's own errors name the part as `field`. */
function withStatus(error: unknown, { fieldname }: MulterFile): unknown {
  if (!isServiceError(error)) return error;
  const { status } = problemOf(error);
  return Object.assign(error, { status, statusCode: status, field: fieldname });
}
