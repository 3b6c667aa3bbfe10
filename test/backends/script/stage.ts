import type { Deployment } from "../deployment.ts";
import type { Material } from "../material.ts";

/** What a part of the script acts upon; there when its tests run. */
export interface Stage {
  deployment: Deployment;
  material: Material;
}
