/* Formats numbers and times for people. */

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const short = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })
const DAY_MS = 86_400_000
const byteUnits = ['bytes', 'kB', 'MB', 'GB', 'TB', 'PB']

/**
 * Formats a whole number with thousands separators.
 * @param {number} value
 */
export function formatWhole(value) {
  return whole.format(value)
}

/**
 * Formats a count in few characters, such as 1.2M.
 * @param {number} value
 */
export function formatCount(value) {
  return value < 10_000 ? whole.format(value) : compact.format(value)
}

/**
 * Formats a rate: one decimal place below 100, none otherwise.
 * @param {number} value
 */
export function formatRate(value) {
  return value < 100 ? short.format(value) : whole.format(value)
}

/**
 * Formats bytes in the largest decimal unit in which the number is at least 1.
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
 * Formats a duration in one unit.
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
 * Formats the age of an event.
 * @param {number} seconds
 */
export function formatAge(seconds) {
  return seconds < 2 ? 'just now' : `${formatDuration(seconds)} ago`
}

/**
 * Formats the time of day in the browser's time zone.
 * @param {number} ms
 */
export function formatClock(ms) {
  return new Date(ms).toLocaleTimeString('en-GB')
}

/**
 * Formats a time in the browser's time zone: the time of day if the time is within 12 hours of `now`, otherwise the
 * date.
 * @param {number} ms
 * @param {number} now
 */
export function formatTime(ms, now) {
  if (ms === 0) return '–'
  if (Math.abs(now - ms) < DAY_MS / 2) return formatClock(ms)
  return new Date(ms).toLocaleDateString('en-GB', { dateStyle: 'medium' })
}

/**
 * Formats a count with its noun, in the plural unless the count is 1: `countOf(2, 'block')` returns "2 blocks".
 * @param {number} value
 * @param {string} noun
 */
export function countOf(value, noun) {
  return `${formatWhole(value)} ${noun}${value === 1 ? '' : 's'}`
}
