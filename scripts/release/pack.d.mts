export interface Packed {
  name: string;
  version: string;
  filename: string;
  integrity: string;
}
export function packAsTheyAre(root: string, folder: string): Packed[];
