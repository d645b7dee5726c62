import { RequestError } from '../../core/http/index.ts'

/** Sizes of a response that exceeds the limit. */
export interface TooLargeAnswer {
  /** Size of the whole response, bytes. */
  readonly bytes: number
  /** Maximum size of a response, bytes. */
  readonly maxBytes: number
  /** Size of each record of a list, bytes, in order; undefined if the response is not a list. */
  readonly items?: readonly number[] | undefined
}

/** Creates the error 400 with the size of the response, the limit, and the number of records that fit. */
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

/** Number of leading records that fit into `maxBytes` with the commas between them. */
function countFitting(items: readonly number[], maxBytes: number): number {
  let left = maxBytes + 1
  const at = items.findIndex((item) => (left -= item + 1) < 0)
  return at < 0 ? items.length : at
}
