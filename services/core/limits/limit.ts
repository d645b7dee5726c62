/**
 * Description of a limit, for the documentation. Each is declared next to the code that enforces it;
 * `docs/security.md` lists all limits.
 */
export interface Limit {
  /** Configuration key or environment variable whose default is the limit. */
  readonly setting?: string
  readonly counts: string
  /** Unit to which the limit applies, such as `connection`. */
  readonly per: string
  /** Limit as text with unit. Optional if `setting` is given, whose default is then the limit. */
  readonly value?: string
  /** Effect for a client beyond the limit. */
  readonly beyond: string
}

const KIB = 1_024
const MIB = KIB * KIB

/** Formats a number of bytes for people. */
export function bytesText(bytes: number): string {
  if (bytes >= MIB) return `${bytes / MIB} MiB`
  return bytes >= KIB ? `${bytes / KIB} KiB` : `${bytes} bytes`
}

/** Formats milliseconds as seconds. */
export function secondsText(ms: number): string {
  return `${ms / 1_000} s`
}

/** Formats a whole number with thousands separators. By hand, because the first use of `Intl` takes 12 ms of a start. */
export function countText(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',')
}
