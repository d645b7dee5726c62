/**
 * Description of a limit, for the documentation. Each limit is declared next to the code that enforces the limit;
 * `docs/security.md` lists all limits.
 */
export interface Limit {
  /** Configuration key or environment variable whose default is the limit. */
  readonly setting?: string
  readonly counts: string
  /** Unit to which the limit applies, such as `connection`. */
  readonly per: string
  /** Limit as text with unit. Absent if the default of `setting` is the limit. */
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

/**
 * Formats a whole number with thousands separators. Does not use `Intl`, because the first use of `Intl` adds 12 ms to
 * the start of a process.
 */
export function countText(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',')
}
