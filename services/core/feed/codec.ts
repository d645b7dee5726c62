import { FatalError } from '../errors/index.ts'
import { eventCatalogue } from '../live/index.ts'
import type { FeedEntry, FeedMessage } from './message.ts'

const families: ReadonlySet<string> = new Set(eventCatalogue.map(({ family }) => family))

export function encodeFeedMessage(message: FeedMessage): string {
  return JSON.stringify(message)
}

/**
 * Parses a message and checks all members that receivers use. Unknown members are retained.
 *
 * @throws FatalError `FEED_MESSAGE_MALFORMED` naming the invalid member; feed subscribers skip such a message.
 */
export function decodeFeedMessage(text: string): FeedMessage {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new FatalError('FEED_MESSAGE_MALFORMED', 'a feed message is not JSON', { cause })
  }
  const message = record(value, 'message')
  name(message.reader, 'reader')
  integer(message.epoch, 'epoch')
  digits(message.sequence, 'sequence')
  switch (message.kind) {
    case 'block':
      checkBlock(message)
      break
    case 'fork':
      integer(message.block_num, 'block_num')
      break
    case 'gap':
      if (message.from_block !== null) integer(message.from_block, 'from_block')
      integer(message.to_block, 'to_block')
      break
    case 'lag':
      for (const field of ['block_num', 'head_block', 'behind']) integer(message[field], field)
      if (typeof message.live !== 'boolean') throw malformed('live')
      break
    case 'stored':
      break
    default:
      throw malformed('kind')
  }
  return value as FeedMessage
}

/**
 * Parses an entry of a feed.
 *
 * @throws as `decodeFeedMessage`, also for messages that are not entries.
 */
export function decodeFeedEntry(text: string): FeedEntry {
  const message = decodeFeedMessage(text)
  if (message.kind === 'lag' || message.kind === 'stored') throw malformed('kind')
  return message
}

type Fields = Readonly<Record<string, unknown>>

function checkBlock(message: Fields): void {
  const block = record(message.block, 'block')
  integer(block.num, 'block.num')
  id(block.id, 'block.id')
  integer(block.time, 'block.time')
  if (typeof block.producer !== 'string') throw malformed('block.producer')
  const traces = list(message.transactions, 'transactions').map((value, i) =>
    checkTransaction(record(value, `transactions[${i}]`), `transactions[${i}]`),
  )
  list(message.events, 'events').forEach((value, i) => checkEvent(value, `events[${i}]`, traces))
}

/** Checks the types of the members of a transaction; returns the number of its traces. */
function checkTransaction(transaction: Fields, place: string): number {
  id(transaction.id, `${place}.id`)
  integer(transaction.cpu_usage_us, `${place}.cpu_usage_us`)
  integer(transaction.net_usage_words, `${place}.net_usage_words`)
  const traces = list(transaction.traces, `${place}.traces`)
  for (const value of traces) {
    const trace = record(value, `${place}.traces`)
    integer(trace.action_ordinal, `${place}.traces.action_ordinal`)
    integer(trace.creator_action_ordinal, `${place}.traces.creator_action_ordinal`)
    digits(trace.global_sequence, `${place}.traces.global_sequence`)
    name(trace.account, `${place}.traces.account`)
    if (typeof trace.name !== 'string') throw malformed(`${place}.traces.name`)
    for (const entry of list(trace.authorization, `${place}.traces.authorization`)) {
      const { actor, permission } = record(entry, `${place}.traces.authorization`)
      if (typeof actor !== 'string' || typeof permission !== 'string')
        throw malformed(`${place}.traces.authorization`)
    }
    if (trace.raw !== undefined && typeof trace.raw !== 'string') throw malformed(`${place}.traces.raw`)
  }
  return traces.length
}

function checkEvent(value: unknown, place: string, traces: readonly number[]): void {
  const event = record(value, place)
  name(event.contract, `${place}.contract`)
  if (typeof event.family !== 'string' || !families.has(event.family)) throw malformed(`${place}.family`)
  name(event.event, `${place}.event`)
  name(event.id, `${place}.id`)
  const count = traces[integer(event.transaction, `${place}.transaction`)]
  if (count === undefined) throw malformed(`${place}.transaction`)
  if (integer(event.trace, `${place}.trace`) >= count) throw malformed(`${place}.trace`)
  for (const [key, values] of Object.entries(record(event.keys, `${place}.keys`)))
    for (const text of list(values, `${place}.keys.${key}`))
      if (typeof text !== 'string') throw malformed(`${place}.keys.${key}`)
}

function record(value: unknown, place: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw malformed(place)
  return value as Fields
}

function list(value: unknown, place: string): readonly unknown[] {
  if (!Array.isArray(value)) throw malformed(place)
  return value
}

function integer(value: unknown, place: string): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) throw malformed(place)
  return value
}

function name(value: unknown, place: string): void {
  if (typeof value !== 'string' || value === '') throw malformed(place)
}

function digits(value: unknown, place: string): void {
  if (typeof value !== 'string' || !/^\d{1,20}$/.test(value)) throw malformed(place)
}

function id(value: unknown, place: string): void {
  if (typeof value !== 'string' || !/^[0-9a-f]{64}$/.test(value)) throw malformed(place)
}

function malformed(place: string): FatalError {
  return new FatalError('FEED_MESSAGE_MALFORMED', `a feed message has no valid ${place}`)
}
