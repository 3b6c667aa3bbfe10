/** @param {number} value */
export function count(value) {
  return Math.round(value).toLocaleString("en");
}

/** @param {number} value */
export function bytes(value) {
  const units = ["bytes", "KB", "MB", "GB", "TB", "PB"];
  const step = Math.min(units.length - 1, Math.floor(Math.log10(value) / 3));
  const scaled = value / 1000 ** step;
  return `${scaled < 10 && step > 0 ? scaled.toFixed(1) : scaled.toFixed(0)} ${units[step]}`;
}

/** @param {number} share */
export function percent(share) {
  return `${(share * 100).toFixed(1)} %`;
}

/** A difference of shares. @param {number} difference */
export function points(difference) {
  const rounded = (Math.abs(difference) * 100).toFixed(1);
  if (Number(rounded) === 0) return "none";
  return `${difference < 0 ? "−" : "+"}${rounded} points`;
}

/** Of small shares. @param {number} share */
export function percents(share) {
  return `${(share * 100).toPrecision(2)} %`;
}

/** @param {number} value */
export function USD(value) {
  return value < 10 ? value.toFixed(2) : count(value);
}

/** @param {number} seconds */
export function duration(seconds) {
  if (seconds === 0) return "none";
  if (seconds < 1) return `${(seconds * 1000).toFixed(0)} ms`;
  if (seconds < 120) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  if (seconds < 7200) return `${(seconds / 60).toFixed(0)} min`;
  return seconds < 172_800 ? `${(seconds / 3600).toFixed(0)} h` : `${(seconds / 86_400).toFixed(0)} days`;
}
