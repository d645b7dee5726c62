/** A limit, for people. Each stands beside the code that enforces it; `docs/security.md` lists all of them. */
export interface Limit {
  /** Key of the configuration, or variable of the environment, whose default is the value. */
  readonly setting?: string
  readonly counts: string
  /** Unit that has one such limit, such as `connection`. */
  readonly per: string
  /** Text with the unit. With a setting only where the setting alone does not say everything. */
  readonly value?: string
  /** Effect for a client beyond the limit. */
  readonly beyond: string
}

const KIB = 1_024
const MIB = KIB * KIB

/** Bytes as people read them. */
export function bytesText(bytes: number): string {
  if (bytes >= MIB) return `${bytes / MIB} MiB`
  return bytes >= KIB ? `${bytes / KIB} KiB` : `${bytes} bytes`
}

/** A time in seconds, from ms. */
export function secondsText(ms: number): string {
  return `${ms / 1_000} s`
}

/** A number with commas. */
export function countText(count: number): string {
  return count.toLocaleString('en-US')
}
