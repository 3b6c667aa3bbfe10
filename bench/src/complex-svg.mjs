const [WIDTH, HEIGHT] = [1600, 1200];
const GRADIENTS = 40;
/** Intervals of paths: one path is blurred and one is a transparent group, both drawn separately and composited. */
const BLURRED_EVERY = 250;
const GROUPED_EVERY = 150;

/** A drawing with many paths, 40 gradients, blurred and transparent groups; the same in every run. */
export function complexSvg(paths = 1500) {
  let state = 40;
  /** Pseudo-random: the minimal standard of Park and Miller. @param {number} least @param {number} most */
  const between = (least, most) => {
    state = (state * 48_271) % 2_147_483_647;
    return least + (state / 2_147_483_647) * (most - least);
  };
  const colour = () => `hsl(${Math.round(between(0, 360))},60%,50%)`;
  const gradients = Array.from(
    { length: GRADIENTS },
    (_, index) =>
      `<linearGradient id="g${index}" gradientTransform="rotate(${index * 9})"><stop stop-color="${colour()}"/><stop offset="1" stop-color="${colour()}"/></linearGradient>`,
  );
  const shapes = Array.from({ length: paths }, (_, index) => {
    const offset = () => between(-50, 50).toFixed(2);
    const curves = Array.from({ length: 5 }, () => `c${Array.from({ length: 6 }, offset).join(" ")}`);
    const fill = index % 3 === 0 ? "none" : `url(#g${index % GRADIENTS})`;
    const filter = index % BLURRED_EVERY === 0 ? ' filter="url(#blur)"' : "";
    const opacity = index % GROUPED_EVERY === 0 ? "opacity" : "fill-opacity";
    return `<path d="M${between(0, WIDTH)} ${between(0, HEIGHT)}${curves.join("")}z" fill="${fill}" stroke="${colour()}" ${opacity}=".7"${filter}/>`;
  });
  return Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}">
    <defs>${gradients.join("")}<filter id="blur"><feGaussianBlur stdDeviation="3"/></filter></defs>
    <rect width="100%" height="100%" fill="#f7f4ec"/>${shapes.join("")}</svg>`,
  );
}
