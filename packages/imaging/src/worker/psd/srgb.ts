let bytes: Uint8Array | null = null;

/** The sRGB encoding of each of 65,536 steps of light, in 8 bits. Source: IEC 61966-2-1, 5.2. */
function srgbBytes(): Uint8Array {
  bytes ??= Uint8Array.from({ length: 0x10000 }, (_, step) => {
    const light = step / 0xffff;
    const encoded = light <= 0.0031308 ? 12.92 * light : 1.055 * light ** (1 / 2.4) - 0.055;
    return Math.round(encoded * 255);
  });
  return bytes;
}

/** D50, the white point of Photoshop's Lab; libvips assumes D65. Source: ICC.1:2022, 7.2.16. */
const WHITE_X = 0.9642;
const WHITE_Z = 0.8249;
/** Below this value the function is linear, above it a cube root. Source: CIE 15:2004, 8.2.1. */
const LINEAR_BELOW = 6 / 29;

/**
 * Converts Lab to sRGB, in planes of `count` bytes: L scaled to 255, a and b plus 128. Each channel is clipped to sRGB.
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

/** The index among the 65,536 steps of light. */
function toStep(light: number): number {
  if (light <= 0) return 0;
  return light >= 1 ? 0xffff : Math.round(light * 0xffff);
}
