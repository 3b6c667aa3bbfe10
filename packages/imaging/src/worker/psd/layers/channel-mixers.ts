/** Red, green and blue of 0 to 255. */
export type Rgb = [red: number, green: number, blue: number];

/** Returns the colour of one opaque pixel blended over another. May change and return its arguments. */
export type MixChannels = (below: Rgb, above: Rgb) => Rgb;

/**
 * Blend modes that mix channels, by Photoshop's name.
 *
 * Source: ISO 32000-1, 11.3.5.3. It lacks darker and lighter colour; "Blending mode descriptions" in Photoshop's manual
 * describes these.
 */
export const channelMixers: Readonly<Record<string, MixChannels>> = {
  hue: (below, above) => withLuminosity(withSaturation(above, saturationOf(below)), luminosityOf(below)),
  saturation: (below, above) => {
    const luminosity = luminosityOf(below);
    return withLuminosity(withSaturation(below, saturationOf(above)), luminosity);
  },
  color: (below, above) => withLuminosity(above, luminosityOf(below)),
  luminosity: (below, above) => withLuminosity(below, luminosityOf(above)),
  "darker color": (below, above) => (luminosityOf(above) < luminosityOf(below) ? above : below),
  "lighter color": (below, above) => (luminosityOf(above) > luminosityOf(below) ? above : below),
};

function luminosityOf([red, green, blue]: Rgb): number {
  return 0.3 * red + 0.59 * green + 0.11 * blue;
}

function saturationOf(colour: Rgb): number {
  return Math.max(...colour) - Math.min(...colour);
}

function withLuminosity(colour: Rgb, luminosity: number): Rgb {
  const change = luminosity - luminosityOf(colour);
  const [red, green, blue] = colour;
  return clip([red + change, green + change, blue + change], luminosity);
}

/** Pulls a colour towards its grey until no channel is out of range. */
function clip(colour: Rgb, luminosity: number): Rgb {
  const least = Math.min(...colour);
  const most = Math.max(...colour);
  let factor = 1;
  if (least < 0) factor = luminosity / (luminosity - least);
  if (most > 255) factor = Math.min(factor, (255 - luminosity) / (most - luminosity));
  if (factor === 1) return colour;
  const [red, green, blue] = colour;
  return [
    luminosity + (red - luminosity) * factor,
    luminosity + (green - luminosity) * factor,
    luminosity + (blue - luminosity) * factor,
  ];
}

function withSaturation(colour: Rgb, saturation: number): Rgb {
  const least = Math.min(...colour);
  const range = Math.max(...colour) - least;
  if (range === 0) return [0, 0, 0];
  const [red, green, blue] = colour;
  const factor = saturation / range;
  return [(red - least) * factor, (green - least) * factor, (blue - least) * factor];
}
