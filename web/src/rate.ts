// How many frames a second to ask for: sixty, and fewer over a line that cannot carry them.

export const RATES: readonly number[] = [60, 30, 20, 10, 5];
const WATCHED_MS = 2000;
const PATIENCE_MS = 10_000;

/** Halves the asked rate when frames stay away or answers come late, and tries again after a while. */
export class RateChoice {
  rate = RATES[0]!;
  private arrived = 0;
  private since: number | null = null;
  private goodSince: number | null = null;
  private patience = PATIENCE_MS;

  /** A frame came. */
  note(): void {
    this.arrived += 1;
  }

  /** Nothing is expected now: paused, or just asked for something else. */
  rest(): void {
    this.since = null;
  }

  /** To be called a few times a second; true when another rate is to be asked for. */
  judge(now: number, rttMs: number | null, usualRttMs: number | null): boolean {
    if (this.since === null) {
      this.since = now;
      this.arrived = 0;
      return false;
    }
    const passed = now - this.since;
    if (passed < WATCHED_MS) return false;
    const received = (1000 * this.arrived) / passed;
    this.since = now;
    this.arrived = 0;
    // Answers that come much later than on an empty line mean that frames queue before them.
    const queued = rttMs !== null && usualRttMs !== null && rttMs > Math.max(200, 4 * usualRttMs);
    const place = RATES.indexOf(this.rate);
    if (received < 0.6 * this.rate || queued) {
      this.goodSince = null;
      if (place === RATES.length - 1) return false;
      this.rate = RATES[place + 1]!;
      // Each setback makes the next attempt come later.
      this.patience = Math.min(120_000, this.patience * 1.5);
      return true;
    }
    this.goodSince ??= now;
    if (place === 0 || now - this.goodSince < this.patience) return false;
    this.goodSince = null;
    this.rate = RATES[place - 1]!;
    return true;
  }
}
