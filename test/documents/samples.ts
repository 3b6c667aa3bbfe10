import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import sharp from "sharp";
import { numberedPdf } from "../support/numbered-pdf.ts";
import { jpegPhoto } from "../support/pictures.ts";
import { samplePsd } from "../support/psd-samples.ts";

const PEOPLE = `email,first_name,last_name,position,E-Mail,Role
ada@example.com,Ada,Lovelace,Analyst,ada@example.com,Analyst
grace@example.com,Grace,Hopper,Engineer,grace@example.com,Engineer
`;

/** Writes the files that the guides name into the directory of a reader. */
export async function writeSamples(directory: string): Promise<void> {
  const write = (name: string, content: string | Uint8Array) => writeFile(join(directory, name), content);
  const channel = [0, 80, 160, 240];
  const psd = samplePsd({ width: 2, height: 2, channels: [channel, channel, channel] });
  const photo = await jpegPhoto(160, 120);
  for (const name of ["photo.jpg", "sunset.jpg", "picture.jpg"]) await write(name, photo);
  await write(
    "red.png",
    await sharp({ create: { width: 64, height: 48, channels: 3, background: "red" } })
      .png()
      .toBuffer(),
  );
  for (const name of ["plan.psd", "poster.psd"]) await write(name, psd);
  await write("pages.pdf", numberedPdf(3));
  await write("notes.txt", "Not a picture.\n");
  await write("people.csv", PEOPLE);
  await write(
    "people.ndjson.gz",
    gzipSync('{"email":"alan@example.com","first_name":"Alan","last_name":"Turing"}\n'),
  );
  await write("addresses.txt", "ada.lovelace@example.com\nx@y\n");
  await mkdir(join(directory, "backup"));
}
