// Slow clients of four kinds, in a separate process so that they do not slow down the measuring process. The first
// argument is JSON: origin, count, download (a path), drips (a few bytes now and then, or none at all), reopens
// (replace cut connections). The parent sends requests as messages; every reply is a message too.
import { connect } from "node:net";

const { origin, count, download, drips, reopens } = JSON.parse(process.argv[2]);
const { host, hostname, port } = new URL(origin);
const DRIP_MS = 1000;
const DRIP_BYTES = 1024;
// The kernel buffers megabytes for each client that requests a large file. Clients reconnect one after the other, so
// that this transfer is not what is measured.
const REOPEN_EVERY_MS = 10;

const KINDS = {
  /** Begins a request and continues with its headers. */
  headers: { begin: `GET / HTTP/1.1\r\nHost: ${host}\r\nX-Slow: `, drip: (socket) => socket.write("a") },
  /** Begins an upload and continues with its file. */
  upload: {
    begin:
      `POST /api/images.json HTTP/1.1\r\nHost: ${host}\r\nUser-Agent: slow/1.0\r\n` +
      "Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 1000000\r\n\r\n" +
      '--x\r\nContent-Disposition: form-data; name="imagedata"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n\x89PNG',
    drip: (socket) => socket.write("a"),
  },
  /** Requests a large file and hardly reads it. */
  reader: {
    begin: `GET ${download} HTTP/1.1\r\nHost: ${host}\r\nUser-Agent: slow/1.0\r\n\r\n`,
    drip: (socket) => socket.read(DRIP_BYTES),
  },
  /** Never sends a request. */
  idle: { begin: "", drip() {} },
};
const kinds = Object.keys(KINDS);
const open = Object.fromEntries(kinds.map((kind) => [kind, new Set()]));
const cut = Object.fromEntries(kinds.map((kind) => [kind, 0]));
const coming = Array.from({ length: count }, (_, index) => kinds[index % kinds.length]);
let isEnding = false;

function openSocket(kind) {
  const { begin, drip } = KINDS[kind];
  const socket = connect({ host: hostname, port: Number(port), highWaterMark: DRIP_BYTES });
  open[kind].add(socket);
  // Slow readers must not read; the other kinds must, or they would not notice a cut.
  if (kind === "reader") socket.pause();
  else socket.resume();
  if (begin !== "") socket.write(begin, "latin1");
  const timer = drips ? setInterval(drip, DRIP_MS, socket) : undefined;
  // The connection's end, which is what counts, follows.
  socket.on("error", () => {});
  socket.once("close", () => {
    clearInterval(timer);
    open[kind].delete(socket);
    if (isEnding) return;
    cut[kind]++;
    if (reopens) coming.push(kind);
  });
}

function report() {
  process.send({ open: Object.fromEntries(kinds.map((kind) => [kind, open[kind].size])), cut });
}

process.on("message", (question) => {
  if (question === "report") return report();
  // A reader notices a cut only by reading. A reader that was not cut receives more than the buffers held.
  for (const socket of open.reader) socket.resume();
  report();
});
// The parent has exited or disconnected.
process.on("disconnect", () => {
  isEnding = true;
  process.exit();
});

if (reopens) {
  let opened = 0;
  setInterval(() => {
    const kind = coming.shift();
    if (kind === undefined) return;
    openSocket(kind);
    opened++;
    if (opened === count) report();
  }, REOPEN_EVERY_MS);
} else {
  for (const kind of coming) openSocket(kind);
  report();
}
