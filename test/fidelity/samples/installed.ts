import { readdir, readFile, stat } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { type Kind, type Sample, sample } from "./sample.ts";

interface Place {
  /** What the names of its samples begin with. */
  name: string;
  directory: string;
  /** Takes one file in so many, by name. @default every file */
  every?: number;
}

/** Pictures of npm packages of this repository, and of Debian packages that the tests' programs depend on. */
const PLACES: readonly Place[] = [
  { name: "npm", directory: fileURLToPath(new URL("../../../node_modules/", import.meta.url)) },
  { name: "adwaita-icon-theme", directory: "/usr/share/icons/Adwaita/scalable/", every: 8 },
  { name: "adwaita-icon-theme", directory: "/usr/share/icons/Adwaita/48x48/", every: 20 },
  { name: "hicolor", directory: "/usr/share/icons/hicolor/" },
  { name: "matplotlib", directory: "/usr/share/matplotlib/mpl-data/" },
  { name: "skimage", directory: "/usr/lib/python3/dist-packages/skimage/" },
  { name: "mpl_toolkits", directory: "/usr/lib/python3/dist-packages/mpl_toolkits/", every: 5 },
];

const SUFFIXES: Record<string, Kind> = {
  png: "png",
  jpg: "jpeg",
  jpeg: "jpeg",
  gif: "gif",
  svg: "svg",
  psd: "psd",
  pdf: "pdf",
};
const MAX_BYTES = 1_500_000;

/** The pictures of {@link PLACES} that are present, by the same names on every machine. Our own are left out. */
export async function installedSamples(): Promise<Sample[]> {
  const found = await Promise.all(PLACES.map(readPlace));
  return [...new Map(found.flat().map((file) => [file.name, file])).values()];
}

async function readPlace({ name, directory, every = 1 }: Place): Promise<Sample[]> {
  const entries = await readdir(directory, { recursive: true }).catch((error) => {
    // The package may be absent, or keep its files elsewhere.
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const pictures = entries
    .filter((path) => suffixOf(path) in SUFFIXES && !path.includes("@outrigger"))
    .sort();
  const samples: Sample[] = [];
  for (const path of pictures.filter((_, index) => index % every === 0)) {
    const { size } = await stat(directory + path);
    if (size === 0 || size > MAX_BYTES) continue;
    const kind = SUFFIXES[suffixOf(path)];
    if (kind !== undefined) samples.push(sample(kind, `${name}: ${path}`, await readFile(directory + path)));
  }
  return samples;
}

function suffixOf(path: string): string {
  return path.slice(path.lastIndexOf(".") + 1).toLowerCase();
}
