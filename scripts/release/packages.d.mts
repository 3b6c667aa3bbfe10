export interface PublicManifest {
  name: string;
  version: string;
  [field: string]: unknown;
}
export function publicPackages(root: string): { directory: string; manifest: PublicManifest }[];
