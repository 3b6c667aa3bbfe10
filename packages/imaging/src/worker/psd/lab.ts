import { srgbBytes } from "./linear-light.ts";

/** D50, the white of Photoshop's Lab; libvips takes Lab to be under D65. Source: ICC.1:2022, 7.2.16. */
const WHITE_X = 0.9642;
const WHITE_Z = 0.8249;
/** Where the cube root ends and a line begins. Source: CIE 15:2004, 8.2.1. */
const LINEAR_BELOW = 6 / 29;

/**
 * Replaces Lab by sRGB, in planes of `count` bytes: L of 255, and a and b plus 128. What sRGB does not have is clipped,
 * channel by channel.
 */
export function convertLab(pixels: Buffer, count: number): void {
  const bytes = srgbBytes();
  const green = count;
  const blue = count * 2;
  for (let index = 0; index < count; index++) {
    const y = ((pixels[index] ?? 0) / 2.55 + 16) / 116;
    const x = y + ((pixels[green + index] ?? 0) - 128) / 500;
    const z = y - ((pixels[blue + index] ?? 0) - 128) / 200;
    const lightX = WHITE_X * toLight(x);
    const lightY = toLight(y);
    const lightZ = WHITE_Z * toLight(z);
    // From XYZ under D50 to linear sRGB: the inverse of IEC 61966-2-1, adapted by Bradford's method.
    pixels[index] = bytes[toStep(3.1338561 * lightX - 1.6168667 * lightY - 0.4906146 * lightZ)] ?? 0;
    pixels[green + index] = bytes[toStep(-0.9787684 * lightX + 1.9161415 * lightY + 0.033454 * lightZ)] ?? 0;
    pixels[blue + index] = bytes[toStep(0.0719453 * lightX - 0.2289914 * lightY + 1.4052427 * lightZ)] ?? 0;
  }
}

function toLight(value: number): number {
  return value > LINEAR_BELOW ? value * value * value : (3 * (value - 4 / 29) * 36) / 841;
}

/** Of the 65,536 steps of light. */
function toStep(light: number): number {
  if (light <= 0) return 0;
  return light >= 1 ? 0xffff : Math.round(light * 0xffff);
}
