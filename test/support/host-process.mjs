// What scripts of the image service share that a test starts as a process.

/** A renderer that accepts every file and renders nothing. */
export const acceptingRenderer = {
  build: "none",
  version: () => 1,
  measure: () => null,
  canRender: () => false,
  admit: async () => ({ width: 1, height: 1, pages: 1, cleaned: null }),
  render: () => Promise.reject(new Error("Nothing is rendered here")),
  close: async () => {},
};

/** Ends this process with the test process, even if the test process is killed. */
export function endWithParent() {
  process.stdin.resume().on("close", () => process.exit());
}

/** Listens on a free port and prints the address, which the test waits for. */
export function announce(server, options = {}) {
  server.listen({ port: 0, host: "127.0.0.1", ...options }, () => {
    console.log(`http://127.0.0.1:${server.address().port}`);
  });
}
