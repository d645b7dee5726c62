import { RequestError } from '../../core/http/index.ts'

/** An answer that is too large to be built. */
export interface TooLargeAnswer {
  /** Bytes of all of it, of which `items` are a part. */
  readonly bytes: number
  /** Bytes that are allowed. */
  readonly maxBytes: number
  /** Bytes of each of its records, in their order; undefined where it is no list. */
  readonly items?: readonly number[] | undefined
}

/** 400 that says how large the answer would be, what is allowed, and how many records fit. */
export function answerTooLarge({ bytes, maxBytes, items = [] }: TooLargeAnswer): RequestError {
  const allowed = `${maxBytes} bytes are allowed (limits.answer_bytes)`
  const around =
    items.length === 0 ? 0 : bytes - items.reduce((sum, item) => sum + item, 0) - items.length + 1
  const fitting = countFitting(items, maxBytes - around)
  if (items.length > 1 && fitting > 0)
    return new RequestError(
      400,
      `The answer would have ${bytes} bytes, ${allowed}: use limit=${fitting} or less`,
    )
  if (items.length > 1)
    return new RequestError(
      400,
      `The answer would have ${bytes} bytes, ${allowed}; its first record alone has ${items[0]!}, so no limit helps: leave that record out by a filter or a bound`,
    )
  const what = items.length === 1 ? 'record' : 'answer'
  return new RequestError(400, `The ${what} would have ${bytes} bytes, ${allowed}`)
}

/** How many of the first items fit, with commas between them. */
function countFitting(items: readonly number[], maxBytes: number): number {
  let left = maxBytes + 1
  const at = items.findIndex((item) => (left -= item + 1) < 0)
  return at < 0 ? items.length : at
}
