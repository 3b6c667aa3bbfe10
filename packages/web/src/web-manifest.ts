import { createHash } from "node:crypto";
import type { Asset } from "@outrigger/core";
import { loadAssets } from "./assets.ts";

/** The web app manifest of the upload page, under a name that changes with its content. */
export interface WebManifest {
  name: string;
  asset: Asset;
}

/** All its URLs are relative to its own, `{baseUrl}/assets/<name>`, so it fits any mount point. */
export function createWebManifest(productName: string): WebManifest {
  const { icon, appIcons } = loadAssets();
  const text = JSON.stringify({
    name: productName,
    short_name: productName,
    description: "Upload images and get a link to share.",
    lang: "en",
    start_url: "../",
    scope: "../",
    display: "standalone",
    background_color: "#ffffff",
    theme_color: "#0b5f6e",
    icons: [{ src: icon, sizes: "any", type: "image/svg+xml" }, ...appIcons],
    share_target: {
      action: "../share-target",
      method: "POST",
      enctype: "multipart/form-data",
      params: { files: [{ name: "images", accept: ["image/*", "application/pdf", ".psd"] }] },
    },
  });
  const hash = createHash("sha256").update(text).digest("base64url").slice(0, 8);
  return {
    name: `manifest-${hash}.webmanifest`,
    asset: { type: "application/manifest+json", body: Buffer.from(text) },
  };
}
