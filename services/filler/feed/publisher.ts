import { describeError } from '../../core/errors/index.ts'
import type { KeyValueStore, StoreLogger } from '../../core/kvstore/index.ts'

/** What `createPublisher` needs. */
export interface PublisherOptions {
  readonly store: Pick<KeyValueStore, 'publish'>
  readonly logger: StoreLogger
  /** Called for each message, with its reader. */
  readonly onMessage?: (reader: string, outcome: 'sent' | 'dropped') => void
}

/** Messages, and their characters, that may be in flight to the store at once. */
const MAX_UNDERWAY = 256
const MAX_UNDERWAY_CHARACTERS = 16 * 1024 * 1024
/** Losses are logged at most this often. */
const WARN_EVERY_MS = 60_000

/** Sends messages to the key-value store without waiting. Messages that the store does not accept are dropped, counted, and logged once a minute: subscribers read them from the database.
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
