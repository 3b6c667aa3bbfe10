import type { ImageFormat } from "../../../contracts/renderer.ts";
import type { ImageSettings } from "../../image-settings.ts";

/** The settings, and what follows from them. */
export interface ImageFacts extends ImageSettings {
  hasPages: boolean;
  /** Whether the upload page has a form for browsers without JavaScript. */
  hasUploadForm: boolean;
  /** Output formats that at least one type of image can be served as. */
  formats: readonly ImageFormat[];
  /** Those `formats` that some types of images cannot be served as. */
  partialFormats: readonly ImageFormat[];
}
