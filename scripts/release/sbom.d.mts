export function writeSbom(root: string, folder: string): string;
