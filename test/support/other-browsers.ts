import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { programs } from "./programs.ts";

/** A browser that Playwright cannot drive as its vendor ships it. */
export interface OtherBrowser {
  open(url: string): Promise<void>;
  /** Chooses a file in the field of a selector. */
  choose(selector: string, path: string): Promise<void>;
  /** The result of the body of a function. */
  evaluate(body: string): Promise<unknown>;
  close(): Promise<void>;
}

const START_MS = 60_000;

/** Firefox without a window, by Marionette: WebDriver commands as JSON over TCP. */
export async function launchFirefox(): Promise<OtherBrowser> {
  const profile = await mkdtemp(join(tmpdir(), "outrigger-firefox-"));
  await writeFile(
    join(profile, "user.js"),
    'user_pref("marionette.port", 0);\nuser_pref("network.captive-portal-service.enabled", false);\n',
  );
  const args = ["--headless", "--marionette", "--no-remote", "--profile", profile];
  const child = spawn(programs.firefox, args, { stdio: "ignore", env: { ...process.env, HOME: profile } });
  const port = await eventually(() => readFile(join(profile, "MarionetteActivePort"), "utf8"));
  const socket = connect(Number(port), "127.0.0.1");
  const send = await marionette(socket);
  await send("WebDriver:NewSession", {});
  return {
    open: async (url) => void (await send("WebDriver:Navigate", { url })),
    async choose(selector, path) {
      const found = await send("WebDriver:FindElement", { using: "css selector", value: selector });
      await send("WebDriver:ElementSendKeys", { id: elementIn(found), text: path });
    },
    evaluate: (body) => send("WebDriver:ExecuteScript", { script: body, args: [] }),
    async close() {
      socket.destroy();
      await end(child);
      await rm(profile, { recursive: true, force: true });
    },
  };
}

type Send = (command: string, parameters: object) => Promise<unknown>;

/** Sends `[0, id, command, parameters]`, and resolves with the value of `[1, id, error, result]`. Each has its length in front. */
async function marionette(socket: Socket): Promise<Send> {
  const waiting = new Map<number, (reply: [unknown, { value?: unknown } | null]) => void>();
  let received = Buffer.alloc(0);
  let count = 0;
  socket.on("data", (chunk) => {
    received = Buffer.concat([received, chunk]);
    for (;;) {
      const colon = received.indexOf(":");
      const end = colon + 1 + Number(received.subarray(0, Math.max(0, colon)));
      if (colon === -1 || received.length < end) return;
      const message = JSON.parse(received.subarray(colon + 1, end).toString());
      received = received.subarray(end);
      // The greeting is no array.
      if (Array.isArray(message)) waiting.get(message[1])?.([message[2], message[3]]);
    }
  });
  await once(socket, "connect");
  return async (command, parameters) => {
    const id = ++count;
    const reply = new Promise<[unknown, { value?: unknown } | null]>((resolve) => waiting.set(id, resolve));
    const text = JSON.stringify([0, id, command, parameters]);
    socket.write(`${Buffer.byteLength(text)}:${text}`);
    const [error, result] = await reply;
    if (error !== null) throw new Error(`${command}: ${JSON.stringify(error)}`);
    return result?.value;
  };
}

/** WebKitGTK's own browser on a virtual screen, by its WebDriver. */
export async function launchWebKit(): Promise<OtherBrowser> {
  const screen = spawn(programs.xvfb, ["-displayfd", "3", "-nolisten", "tcp"], {
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  });
  const [display] = await once(createInterface(screen.stdio[3] as NodeJS.ReadableStream), "line"); // The pipe.
  const port = await freePort();
  const home = await mkdtemp(join(tmpdir(), "outrigger-webkit-"));
  const driver = spawn(programs.webkitDriver, [`--port=${port}`], {
    stdio: "ignore",
    env: {
      ...process.env,
      DISPLAY: `:${display}`,
      HOME: home,
      GDK_BACKEND: "x11",
      LIBGL_ALWAYS_SOFTWARE: "1",
    },
  });
  const root = `http://127.0.0.1:${port}`;
  const call = async (method: string, path: string, body?: object) => {
    const init = { method, ...(body && { body: JSON.stringify(body) }) };
    const { value } = (await (await fetch(root + path, init)).json()) as { value: never }; // WebDriver's reply.
    const { error, message } = (value ?? {}) as { error?: string; message?: string };
    if (error !== undefined) throw new Error(`${path}: ${error}: ${message}`);
    return value as unknown;
  };
  await eventually(() => fetch(`${root}/status`));
  const session = (await call("POST", "/session", { capabilities: {} })) as { sessionId: string };
  const own = `/session/${session.sessionId}`;
  return {
    open: async (url) => void (await call("POST", `${own}/url`, { url })),
    async choose(selector, path) {
      const found = await call("POST", `${own}/element`, { using: "css selector", value: selector });
      await call("POST", `${own}/element/${elementIn(found)}/value`, { text: path });
    },
    evaluate: (body) => call("POST", `${own}/execute/sync`, { script: body, args: [] }),
    async close() {
      await call("DELETE", own);
      await end(driver);
      await end(screen);
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** ID of an element in a reply. */
function elementIn(found: unknown): string {
  return Object.values(found as Record<string, string>)[0] ?? "";
}

/** Tries until it succeeds: a program that has just started needs a while. */
async function eventually<T>(read: () => Promise<T>): Promise<T> {
  for (const endMs = Date.now() + START_MS; ; await delay(100)) {
    try {
      return await read();
    } catch (error) {
      if (Date.now() > endMs) throw error;
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number }; // It listens on TCP.
  server.close();
  await once(server, "close");
  return port;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill();
  await once(child, "exit");
}
