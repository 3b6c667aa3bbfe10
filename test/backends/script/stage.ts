import type { Deployment } from "../deployment.ts";
import type { Material } from "../material.ts";

/** The deployment and material under test; set once the tests run. */
export interface Stage {
  deployment: Deployment;
  material: Material;
}
