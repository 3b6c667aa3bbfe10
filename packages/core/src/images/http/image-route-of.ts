import { type ImageAddress, matchImageAddress } from "./image-address.ts";

/** The route of a path below the images' mount point, of as many as there are kinds of address and formats. */
export function imageRouteOf(path: string): string | undefined {
  const address = matchImageAddress(path);
  return address === undefined ? undefined : routeOf(address);
}

function routeOf(address: ImageAddress): string {
  switch (address.kind) {
    case "collection":
      return `/api/images.${address.suffix}`;
    case "record":
      return "/api/images/{id}.json";
    case "bytes":
      return `/api/images/{id}.${address.format}`;
    case "landing":
      return "/{id}";
    case "viewer":
      return "/{id}/view";
    case "editor":
      return "/{id}/edit";
    case "front":
      return "/";
    case "asset":
      return "/assets/{name}";
    case "reference":
      return "/api";
    case "description":
      return "/api/openapi.json";
    case "sharex":
      return "/sharex.sxcu";
    case "nothing":
    case "unknown_format":
      return "/api/images/*";
  }
}
