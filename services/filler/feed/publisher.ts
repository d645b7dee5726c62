import { describeError } from '../../core/errors/index.ts'
import type { KeyValueStore, StoreLogger } from '../../core/kvstore/index.ts'

export interface PublisherOptions {
  readonly store: Pick<KeyValueStore, 'publish'>
  readonly logger: StoreLogger
  /** Called for each message, with the reader and whether the message was sent or dropped. */
  readonly onMessage?: (reader: string, outcome: 'sent' | 'dropped') => void
}

/** Maximum number of messages in flight to the key-value store; further messages are dropped. */
const MAX_UNDERWAY = 256
/** Maximum number of characters of all messages in flight to the key-value store; further messages are dropped. */
const MAX_UNDERWAY_CHARACTERS = 16 * 1024 * 1024
/** Minimum interval between two log messages about dropped messages, ms. */
const WARN_EVERY_MS = 60_000

/**
 * Creates a function that sends messages to the key-value store without waiting. A message that the store does not
 * accept is dropped, counted, and logged at most once a minute. Subscribers read a dropped message from the database.
 */
export function createPublisher(
  options: PublisherOptions,
): (reader: string, channel: string, text: string) => void {
  const { store, logger, onMessage = () => undefined } = options
  let underway = 0
  let underwayCharacters = 0
  let droppedSinceWarning = 0
  let warnedAtMs = -Infinity

  function drop(reader: string, cause: string): void {
    onMessage(reader, 'dropped')
    droppedSinceWarning++
    const now = performance.now()
    if (now - warnedAtMs < WARN_EVERY_MS) return
    logger.warn(
      { reader, dropped: droppedSinceWarning, cause },
      'messages for live clients were dropped; the api reads them from the database',
    )
    warnedAtMs = now
    droppedSinceWarning = 0
  }

  return (reader, channel, text) => {
    if (underway >= MAX_UNDERWAY || underwayCharacters >= MAX_UNDERWAY_CHARACTERS)
      return drop(reader, 'the key-value store is too slow')
    underway++
    underwayCharacters += text.length
    store
      .publish(channel, text)
      .then(
        () => onMessage(reader, 'sent'),
        (error: unknown) => drop(reader, describeError(error)),
      )
      .finally(() => {
        underway--
        underwayCharacters -= text.length
      })
  }
}
