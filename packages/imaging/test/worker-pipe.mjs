/** The worker's end of the pipe to the host, for the workers of tests. */
import { Socket } from "node:net";
import { FrameReader, frameHead } from "../dist/shared/frames.js";
import { PIPE } from "../dist/shared/wire.js";

let onTask;
const reader = new FrameReader(Infinity, {
  maxBytes: () => Infinity,
  onFrame: ({ message, bytes }) => onTask(message, bytes),
});
const pipe = new Socket({
  fd: PIPE,
  onread: {
    buffer: () => reader.space(),
    callback(length) {
      reader.took(length);
      return true;
    },
  },
});
pipe.on("close", () => process.exit());
pipe.on("error", () => {});

export function send(message, bytes = Buffer.alloc(0)) {
  pipe.write(frameHead(message, bytes.length));
  pipe.write(bytes);
}

/** Writes bytes that need not be a frame. */
export function sendRaw(bytes) {
  pipe.write(bytes);
}

/** Calls `callback` for each task and its bytes. */
export function receive(callback) {
  onTask = callback;
  pipe.resume();
}
