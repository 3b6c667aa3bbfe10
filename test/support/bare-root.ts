import { cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { DockerfileParser, ModifiableInstruction } from "dockerfile-ast";
import { programs, run } from "./programs.ts";

/** Why this machine cannot make a bare Debian root, or `null`. */
export const whyNoBareRoot = (): string | null =>
  process.getuid?.() === 0 ? null : "only root can make a bare Debian root";

/** A root directory as an image has it, and what its instructions set. */
export interface Image {
  root: string;
  environment: Record<string, string>;
  directory: string;
  user: string;
  volumes: string[];
  command: string[];
  health: string[];
}

const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const AUTHORITIES = "/etc/ssl/certs/ca-certificates.crt";
const LATER = new Set(["EXPOSE", "STOPSIGNAL"]);

/**
 * Runs the instructions of a Dockerfile without a container engine. Each image that `FROM` names is replaced by a bare Debian
 * with the Node and npm of this machine and the user `node`. Refuses an instruction that it does not know.
 * @param parent Directory for the roots.
 * @param context Directory that COPY reads.
 */
export async function buildImage(dockerfile: string, context: string, parent: string): Promise<Image> {
  const base = join(parent, "base");
  await makeBase(base);
  const stages = new Map<string, Image>();
  let image: Image | undefined;
  for (const instruction of DockerfileParser.parse(dockerfile).getInstructions()) {
    const name = instruction.getInstruction();
    const text = instruction.getArgumentsContent() ?? "";
    const words = text.split(/\s+/);
    if (name === "FROM") {
      if (!/^node:\d+-bookworm-slim$/.test(words[0] ?? "")) throw new Error(`Nothing stands for ${text}`);
      const root = join(parent, `stage-${stages.size}`);
      await must("cp", ["-a", base, root]);
      image = {
        root,
        environment: { PATH },
        directory: "/",
        user: "root",
        volumes: [],
        command: [],
        health: [],
      };
      stages.set(words[2] ?? root, image);
    } else if (image === undefined) throw new Error("The Dockerfile does not begin with FROM");
    else if (name === "WORKDIR") {
      image.directory = resolve(image.directory, text);
      await mkdir(join(image.root, image.directory), { recursive: true });
    } else if (name === "RUN") await must(...inRoot(image, ["sh", "-ec", text]));
    else if (name === "COPY") {
      const flags = instruction instanceof ModifiableInstruction ? instruction.getFlags() : [];
      const from = flags.find((flag) => flag.getName() === "from")?.getValue();
      const [source = "", target = ""] = words;
      await copy(
        join(from == null ? context : (stages.get(from)?.root ?? ""), source),
        join(image.root, resolve(image.directory, target)),
      );
    } else if (name === "ENV")
      Object.assign(image.environment, Object.fromEntries(words.map((w) => w.split("="))));
    else if (name === "USER") image.user = text;
    else if (name === "VOLUME") image.volumes.push(...words);
    else if (name === "CMD") image.command = JSON.parse(text);
    else if (name === "HEALTHCHECK") image.health = JSON.parse(/\[.*\]/.exec(text)?.[0] ?? "");
    else if (!LATER.has(name)) throw new Error(`${name} is not known`);
  }
  if (image === undefined) throw new Error("The Dockerfile is empty");
  return image;
}

/** The command that runs another one in a root, as root, with the network of this machine and the authorities that it trusts. */
function inRoot({ root, directory, environment }: Image, command: string[]): [string, string[]] {
  const own = { HOME: "/root", NODE_EXTRA_CA_CERTS: AUTHORITIES };
  const variables = Object.entries({ ...environment, ...own }).flatMap(([name, value]) => [
    "--setenv",
    name,
    value,
  ]);
  return [
    programs.bwrap,
    [
      ...["--bind", root, "/", "--proc", "/proc", "--dev", "/dev", "--cap-add", "ALL"],
      ...["/etc/resolv.conf", AUTHORITIES].flatMap((path) => ["--ro-bind", path, path]),
      ...["--chdir", directory, "--clearenv"],
      ...variables,
      ...command,
    ],
  ];
}

async function makeBase(root: string): Promise<void> {
  const targets = ["indextargets", "--format", "$(REPO_URI) $(RELEASE)", "Created-By: Packages"];
  const mirrors = (await must("apt-get", targets)).split("\n").map((line) => line.split(" "));
  const [mirror = ""] = mirrors.find(([, release]) => release === "bookworm") ?? [];
  await must(programs.debootstrap, [
    "--variant=minbase",
    "--include=ca-certificates",
    "bookworm",
    root,
    mirror,
  ]);
  await must("useradd", ["--root", root, "--uid", "1000", "--create-home", "node"]);
  const npm = "lib/node_modules/npm";
  const local = join(root, "usr/local");
  await cp(process.execPath, join(local, "bin/node"));
  await mkdir(join(local, "lib/node_modules"), { recursive: true });
  await cp(join(dirname(dirname(process.execPath)), npm), join(local, npm), { recursive: true });
  await must("ln", ["-s", `../${npm}/bin/npm-cli.js`, join(local, "bin/npm")]);
}

/** Copies a file to a place or into a directory, or the content of a directory. */
async function copy(source: string, target: string): Promise<void> {
  const isFile = (await run("test", ["-f", source])).status === 0;
  if (!isFile) await mkdir(target, { recursive: true });
  await must("cp", ["-a", "--no-preserve=ownership", isFile ? source : `${source}/.`, target]);
}

async function must(program: string, args: string[]): Promise<string> {
  const { status, stdout, stderr } = await run(program, args);
  if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${stdout.toString()}${stderr}`);
  return stdout.toString();
}

/** A directory that other users may enter. */
export async function openDirectory(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), "outrigger-root-"));
  await must("chmod", ["755", path]);
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}
