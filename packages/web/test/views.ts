import type { EditView, ImageFormat, ImageView, ReportView } from "@outrigger/core/images";

/** 20 November 2025, noon, in Unix milliseconds. */
export const NOW = Date.parse("2025-11-20T12:00:00.000Z");
const ORIGIN = "https://images.example/img";
/** Address of the image, without the extension. */
export const BYTES = `${ORIGIN}/api/images/Vb3kq0ZsTmWc9aYh2nLxeg`;

export function linksOf(...formats: ImageFormat[]): Partial<Record<ImageFormat, string>> {
  return Object.fromEntries(formats.map((format) => [format, `${BYTES}.${format}`]));
}

/** An image with links for every format. */
export const IMAGE: ImageView = {
  baseUrl: ORIGIN,
  id: "Vb3kq0ZsTmWc9aYh2nLxeg",
  name: "Harbour",
  description: null,
  type: "image/png",
  size: 412_345,
  width: 1600,
  height: 900,
  pages: 1,
  focus: null,
  warnings: [],
  provenance: null,
  placeholder: null,
  page: 1,
  agent: { name: "Shutter", version: "2.14.1" },
  createdAt: "2025-11-20T11:00:00.000Z",
  expiresAt: "2025-11-21T11:00:00.000Z",
  maxLifetimeMs: 31_536_000_000,
  viewUrl: `${ORIGIN}/Vb3kq0ZsTmWc9aYh2nLxeg/view`,
  links: linksOf("png", "jpg", "gif", "svg", "psd", "pdf", "webp", "avif"),
};

/** The form for it. */
export const EDIT: EditView = {
  image: IMAGE,
  action: "/img/Vb3kq0ZsTmWc9aYh2nLxeg/edit",
  pin: "Q7ZK2M4X9T3B8V5N",
};

export const REPORT: ReportView = {
  baseUrl: ORIGIN,
  name: "Harbour",
  action: `${ORIGIN}/Vb3kq0ZsTmWc9aYh2nLxeg/report`,
  viewUrl: `${ORIGIN}/Vb3kq0ZsTmWc9aYh2nLxeg/view`,
  reasons: ["privacy", "other"],
  hours: 48,
};
