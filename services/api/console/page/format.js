/*
 * Numbers and times as people read them. Pure: no clock, no document.
 */

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const short = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })
const DAY_MS = 86_400_000
const byteUnits = ['bytes', 'kB', 'MB', 'GB', 'TB', 'PB']

/**
 * A whole number with its thousands apart.
 * @param {number} value
 */
export function formatWhole(value) {
  return whole.format(value)
}

/**
 * A count in few characters, such as 1.2M.
 * @param {number} value
 */
export function formatCount(value) {
  return value < 10_000 ? whole.format(value) : compact.format(value)
}

/**
 * A speed: one digit behind the point below a hundred.
 * @param {number} value
 */
export function formatRate(value) {
  return value < 100 ? short.format(value) : whole.format(value)
}

/**
 * Bytes in the largest unit that leaves a number of at least one, in steps of 1,000.
 * @param {number} bytes
 */
export function formatBytes(bytes) {
  let value = bytes
  let unit = 0
  while (value >= 999.5 && unit < byteUnits.length - 1) {
    value /= 1_000
    unit++
  }
  return `${(value < 10 && unit > 0 ? short : whole).format(value)} ${byteUnits[unit] ?? ''}`
}

/**
 * A length of time in one or two units.
 * @param {number} seconds
 */
export function formatDuration(seconds) {
  if (seconds < 10) return `${short.format(seconds)} s`
  const total = Math.round(seconds)
  if (total < 120) return `${total} s`
  if (total < 7_200) return `${Math.round(total / 60)} min`
  const hours = Math.round(total / 3_600)
  if (hours < 48) return `${hours} h`
  return `${whole.format(Math.round(hours / 24))} days`
}

/**
 * How long ago something was.
 * @param {number} seconds
 */
export function formatAge(seconds) {
  return seconds < 2 ? 'just now' : `${formatDuration(seconds)} ago`
}

/**
 * Time of day in the zone of the reader.
 * @param {number} ms
 */
export function formatClock(ms) {
  return new Date(ms).toLocaleTimeString('en-GB')
}

/** A time in the local zone: the time of day within the last hours, the date before.
 * @param {number} ms
 * @param {number} now
 */
export function formatTime(ms, now) {
  if (ms === 0) return '–'
  if (Math.abs(now - ms) < DAY_MS / 2) return formatClock(ms)
  return new Date(ms).toLocaleDateString('en-GB', { dateStyle: 'medium' })
}

/**
 * A plural by counting: `count(2, 'block')` is "2 blocks".
 * @param {number} value
 * @param {string} noun
 */
export function countOf(value, noun) {
  return `${formatWhole(value)} ${noun}${value === 1 ? '' : 's'}`
}
