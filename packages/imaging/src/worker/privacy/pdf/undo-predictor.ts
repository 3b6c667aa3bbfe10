const TIFF = 2;
const FIRST_PNG = 10;

/**
 * Undoes the predictor that the parameters of Flate and LZW name. Parameters that are not valid give nothing, and so does
 * TIFF's predictor for samples of other than 8 or 16 bits.
 *
 * Sources: ISO 32000-1, section 7.4.4.4; PNG, section 9; TIFF 6.0, section 14.
 */
export function undoPredictor(data: Buffer, numberOf: (key: string) => number | undefined): Buffer {
  const predictor = numberOf("Predictor") ?? 1;
  const sampleBits = numberOf("BitsPerComponent") ?? 8;
  const bits = (numberOf("Colors") ?? 1) * sampleBits;
  const rowBytes = Math.ceil((bits * (numberOf("Columns") ?? 1)) / 8);
  const pixelBytes = Math.max(1, bits >> 3);
  if (predictor !== TIFF && predictor < FIRST_PNG) return data;
  if (!(rowBytes > 0) || (predictor === TIFF && sampleBits !== 8 && sampleBits !== 16))
    return Buffer.alloc(0);
  return predictor === TIFF
    ? undoTiff(data, rowBytes, pixelBytes, sampleBits === 16)
    : undoPng(data, rowBytes, pixelBytes);
}

function undoTiff(data: Buffer, rowBytes: number, pixelBytes: number, isWide: boolean): Buffer {
  const rows = Buffer.from(data);
  const step = isWide ? 2 : 1;
  for (let start = 0; start < rows.length; start += rowBytes) {
    const end = Math.min(rows.length, start + rowBytes) - step;
    for (let at = start + pixelBytes; at <= end; at += step) {
      if (isWide)
        rows.writeUInt16BE((rows.readUInt16BE(at) + rows.readUInt16BE(at - pixelBytes)) & 0xffff, at);
      else rows[at] = (rows[at] ?? 0) + (rows[at - pixelBytes] ?? 0);
    }
  }
  return rows;
}

/** Each row begins with its predictor: None, Sub, Up, Average or Paeth. The last one may be cut off. */
function undoPng(data: Buffer, rowBytes: number, pixelBytes: number): Buffer {
  const rows = Buffer.alloc(data.length - Math.ceil(data.length / (rowBytes + 1)));
  let source = 0;
  for (let start = 0; start < rows.length; start += rowBytes) {
    const predictor = data[source++] ?? 0;
    const end = Math.min(rows.length, start + rowBytes);
    for (let at = start; at < end; at++) {
      const isFirst = at < start + pixelBytes;
      const left = isFirst ? 0 : (rows[at - pixelBytes] ?? 0);
      const above = rows[at - rowBytes] ?? 0;
      const corner = isFirst ? 0 : (rows[at - rowBytes - pixelBytes] ?? 0);
      rows[at] = (data[source++] ?? 0) + predict(predictor, left, above, corner);
    }
  }
  return rows;
}

function predict(predictor: number, left: number, above: number, corner: number): number {
  switch (predictor) {
    case 1:
      return left;
    case 2:
      return above;
    case 3:
      return (left + above) >> 1;
    case 4:
      return paeth(left, above, corner);
    default:
      return 0;
  }
}

function paeth(left: number, above: number, corner: number): number {
  const fromLeft = Math.abs(above - corner);
  const fromAbove = Math.abs(left - corner);
  const fromCorner = Math.abs(left + above - 2 * corner);
  if (fromLeft <= fromAbove && fromLeft <= fromCorner) return left;
  return fromAbove <= fromCorner ? above : corner;
}
