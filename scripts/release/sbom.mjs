// The list of all packages that a release contains or depends on at run time.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { npmJson } from "./pack.mjs";
import { publicPackages, readJson } from "./packages.mjs";

/**
 * Writes a CycloneDX file about all published packages and what `dependencies` of their manifests install, by the lock file.
 * Peer dependencies are the host's choice.
 *
 * @param folder that exists
 * @returns the path of the file
 */
export function writeSbom(root, folder) {
  const { name, version } = readJson(join(root, "package.json"));
  const manifests = publicPackages(root).map(({ manifest }) => manifest);
  const format = ["--sbom-format=cyclonedx", "--sbom-type=library", "--package-lock-only"];
  const sbom = npmJson(root, ["sbom", ...format]);
  // npm takes the names of folders. With --omit=dev it leaves out what is a dependency of both kinds.
  sbom.metadata.component.name = name;
  const dependsOn = new Map(sbom.dependencies.map((entry) => [entry.ref, entry.dependsOn]));
  for (const { name, version, dependencies = {} } of manifests) {
    const installed = dependsOn.get(`${name}@${version}`) ?? [];
    const named = installed.filter((ref) => ref.slice(0, ref.lastIndexOf("@")) in dependencies);
    if (named.length !== Object.keys(dependencies).length)
      throw new Error(`npm sbom: ${name} lacks dependencies`);
    dependsOn.set(`${name}@${version}`, named);
  }
  const ours = manifests.map(componentOf);
  const known = new Set(ours.map((component) => component["bom-ref"]));
  // A set also visits what is added meanwhile.
  for (const ref of known) for (const each of dependsOn.get(ref) ?? []) known.add(each);
  const others = sbom.components.filter(
    (component) =>
      known.has(component["bom-ref"]) && !ours.some((own) => own["bom-ref"] === component["bom-ref"]),
  );
  sbom.components = [...ours, ...others];
  sbom.dependencies = [...known].map((ref) => ({ ref, dependsOn: dependsOn.get(ref) ?? [] }));
  const path = join(folder, `outrigger-${version}.cdx.json`);
  writeFileSync(path, `${JSON.stringify(sbom, null, 2)}\n`);
  return path;
}

function componentOf({ name, version, description, license }) {
  return {
    "bom-ref": `${name}@${version}`,
    type: "library",
    name,
    version,
    scope: "required",
    description,
    purl: `pkg:npm/${name.replace("@", "%40")}@${version}`,
    licenses: [{ license: { id: license } }],
  };
}
