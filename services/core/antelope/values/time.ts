import { EncodeError } from '../../bytes/index.ts'

/** 2000-01-01T00:00:00Z in epoch milliseconds: slot 0 of a block timestamp. */
const SLOT_EPOCH_MS = 946_684_800_000

/** Epoch milliseconds of a block timestamp (uint32 count of half seconds since 2000). */
export function slotToEpochMs(slot: number): number {
  return SLOT_EPOCH_MS + slot * 500
}

/**
 * Converts a time to a block timestamp: the half-second slot that contains the time.
 * @throws EncodeError before 2000 and after the last slot (2068).
 */
export function epochMsToSlot(epochMs: number): number {
  const slot = Math.floor((epochMs - SLOT_EPOCH_MS) / 500)
  if (!(slot >= 0 && slot <= 0xffffffff))
    throw new EncodeError(`the time ${epochMs} ms since 1970 is outside the block timestamps (2000 to 2068)`)
  return slot
}

/** Formats a time as `2026-11-20T09:34:09.500`: UTC without a zone letter, as nodes do. */
export function formatEpochMs(epochMs: number): string {
  const days = Math.floor(epochMs / 86_400_000)
  return isoText(days, epochMs - days * 86_400_000, true)
}

/** Formats a `time_point_sec` as `2026-11-20T09:34:09`. */
export function formatEpochSeconds(seconds: number): string {
  const days = Math.floor(seconds / 86_400)
  return isoText(days, (seconds - days * 86_400) * 1000, false)
}

/**
 * Formats a `time_point` (signed microseconds), cut to milliseconds; years above 9999 get more digits. Nodes print a
 * time before 1970 as a duration such as `-000000.000001`.
 */
export function formatEpochMicroseconds(microseconds: bigint): string {
  if (microseconds < 0n) return durationText(-microseconds)
  const days = microseconds / DAY_MICROSECONDS
  return isoText(Number(days), Number((microseconds - days * DAY_MICROSECONDS) / 1000n), true)
}

const DAY_MICROSECONDS = 86_400_000_000n
/** Magnitude of the least `time_point`, which nodes print as minus infinity. */
const INFINITE_MICROSECONDS = 2n ** 63n

/** Formats a negative duration: hours, minutes and seconds of two digits each, more for hours above 99. */
function durationText(magnitude: bigint): string {
  if (magnitude === INFINITE_MICROSECONDS) return '-infinity'
  const seconds = magnitude / 1_000_000n
  const fraction = magnitude % 1_000_000n
  const parts = [seconds / 3600n, (seconds / 60n) % 60n, seconds % 60n].map((part) =>
    String(part).padStart(2, '0'),
  )
  return `-${parts.join('')}${fraction === 0n ? '' : `.${String(fraction).padStart(6, '0')}`}`
}

function parseDuration(text: string): bigint | null {
  if (text === '-infinity') return -INFINITE_MICROSECONDS
  const match = /^-(\d{2,10})(\d\d)(\d\d)(?:\.(\d{6}))?$/.exec(text)
  if (match === null) return null
  const [hours, minutes, seconds] = match.slice(1, 4).map(BigInt) as [bigint, bigint, bigint]
  const magnitude = ((hours * 60n + minutes) * 60n + seconds) * 1_000_000n + BigInt(match[4] ?? '0')
  return magnitude < INFINITE_MICROSECONDS ? -magnitude : null
}

/**
 * Parses an ISO time such as `2026-11-20T09:34:09.000` to microseconds; fraction (up to six digits) and `Z` are
 * optional. Also parses the durations that nodes print for times before 1970.
 * @throws EncodeError for other texts.
 */
export function parseTimeMicroseconds(text: string): bigint {
  const duration = parseDuration(text)
  if (duration !== null) return duration
  const match = /^(\d{4,7})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?Z?$/.exec(text)
  if (match === null) throw new EncodeError(`${JSON.stringify(text.slice(0, 64))} is not a time`)
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  const days = daysFromCivil(year, month, day)
  if (month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 60 || days < 0) {
    throw new EncodeError(`${JSON.stringify(text)} is not a time since 1970`)
  }
  const seconds = BigInt(days) * 86_400n + BigInt(hour * 3600 + minute * 60 + second)
  return seconds * 1_000_000n + BigInt((match[7] ?? '').padEnd(6, '0'))
}

function isoText(days: number, msOfDay: number, withMs: boolean): string {
  const { year, month, day } = civilFromDays(days)
  const seconds = Math.floor(msOfDay / 1000)
  const date = `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`
  const time = `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`
  return withMs ? `${date}T${time}.${String(msOfDay % 1000).padStart(3, '0')}` : `${date}T${time}`
}

function two(value: number): string {
  return value < 10 ? `0${value}` : String(value)
}

// Proleptic Gregorian calendar whose years begin on 1 March, so that the leap day is the last day of a year. `Date` is
// not used, because a 64-bit time point exceeds the range of `Date`.
function civilFromDays(days: number): { year: number; month: number; day: number } {
  const shifted = days + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153)
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1,
  }
}

function daysFromCivil(year: number, month: number, day: number): number {
  const marchYear = month <= 2 ? year - 1 : year
  const era = Math.floor(marchYear / 400)
  const yearOfEra = marchYear - era * 400
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * 146_097 + dayOfEra - 719_468
}
