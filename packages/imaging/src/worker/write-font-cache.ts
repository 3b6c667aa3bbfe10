/**
 * Entry of a process that reads no picture of a client: it draws one letter, so that fontconfig writes its cache. Workers
 * may write no file, and without a cache each of them would read all fonts.
 */

import sharp from "sharp";

// The host has exited.
process.stdin.on("end", () => process.exit()).resume();
await sharp(
  Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text y="9">A</text></svg>'),
).toBuffer();
process.exit();
