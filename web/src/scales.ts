/** How long an arrow is for a force or a speed: round numbers that stay while the values do not change much. */

/** 1, 2 or 5 times a power of ten, the next at or above x. */
export function niceAbove(x: number): number {
  if (!(x > 0) || !Number.isFinite(x)) return 1;
  const power = 10 ** Math.floor(Math.log10(x));
  for (const step of [1, 2, 5, 10]) if (step * power >= x * (1 - 1e-9)) return Number((step * power).toPrecision(3));
  return 10 * power;
}

export class ArrowScale {
  /** What one metre of arrow stands for. */
  perMetre = NaN;
  private peak = 0;
  private last = 0;

  /** `length`: how long the longest arrows are to be [m]; `least`: values below this are small. */
  constructor(
    private length: number,
    private readonly least: number,
  ) {}

  /** Takes the greatest value of a frame; `now`: seconds of the page's clock. */
  see(value: number, now: number): void {
    if (!Number.isFinite(value)) return;
    // What was great is forgotten in half a minute, so that arrows do not breathe with the motion.
    const fade = Math.exp(-Math.max(0, now - this.last) / 30);
    this.last = now;
    this.peak = Math.max(value, this.peak * fade, this.least);
    const wanted = niceAbove(this.peak / this.length);
    // Grows at once, shrinks only when two steps too great.
    if (!(wanted <= this.perMetre) || wanted < 0.3 * this.perMetre) this.perMetre = wanted;
  }

  /** Metres of arrow for a value. */
  metres(value: number): number {
    return Number.isNaN(this.perMetre) ? 0 : value / this.perMetre;
  }
}
