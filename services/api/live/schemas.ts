import { eventCatalogue } from '../../core/live/index.ts'
import type { EventEntry } from '../../core/live/index.ts'
import type { Namespace, NamedSchema, RecordSchema } from '../endpoint/index.ts'
import { shape } from '../endpoint/index.ts'
import { errorCodes } from './outgoing.ts'

const { flag, integer, list, nullable, object, record, text } = shape

const cursor = text(
  'Position of the client after this message; a subscription with this cursor resumes after the message',
)
const subscriptions = list(
  text('Id of a subscription'),
  'Subscriptions that get the message and whose cursors the message moves; absent if the message moves the cursors of all subscriptions',
)
const constant = (value: string): RecordSchema => ({ type: 'string', const: value })

const block = object(
  {
    num: integer('Block number'),
    id: { type: 'string', pattern: '^[0-9a-f]{64}$', description: 'Block id' },
    time: integer('Block time, ms since 1970'),
  },
  'The block that contains the event',
)

const action = object(
  {
    account: text('Account of the contract'),
    name: text('Name of the action'),
    authorization: list(object({ actor: text('Account'), permission: text('Permission of the account') })),
    'data?': {
      description: 'Data of the action by the names of the ABI; 64-bit integers are decimal strings',
    },
  },
  'The action of the event',
)

/** Schemas of the websocket and event stream messages other than events. */
export const noticeSchemas: readonly NamedSchema[] = [
  record('LiveSubscribed', 'A subscription begins', {
    type: constant('subscribed'),
    id: text('Id of the subscription'),
    filters: object({}, 'Filters of the subscription'),
    'cursor?': cursor,
  }),
  record('LiveUnsubscribed', 'A subscription was removed', {
    type: constant('unsubscribed'),
    id: text('Id of the subscription'),
  }),
  record('LiveFork', 'A fork has undone this block and all later blocks; the replacing blocks follow', {
    type: constant('fork'),
    block_num: integer('First undone block'),
    'subscriptions?': subscriptions,
    cursor,
  }),
  record('LiveGap', 'Blocks without published events, because the reader was far behind the head', {
    type: constant('gap'),
    from_block: nullable(integer('First unpublished block; null if unknown')),
    to_block: integer('Last unpublished block'),
    'subscriptions?': subscriptions,
    cursor,
  }),
  record('LiveLag', 'Lag of the reader; sent often while the reader is behind, and rarely otherwise', {
    type: constant('lag'),
    block_num: integer('Last committed block'),
    head_block: integer('Head block of the chain'),
    behind: integer('`head_block` minus `block_num`'),
    live: flag('False while the reader is too far behind to publish blocks'),
    'cursor?': cursor,
  }),
  record('LivePosition', 'The client has received all matching events up to this cursor', {
    type: constant('position'),
    'cursor?': cursor,
  }),
  record(
    'LiveWaiting',
    'The client waits until the server can send the missed events; repeated while the client waits',
    {
      type: constant('waiting'),
      clients: integer('Number of waiting clients'),
    },
  ),
  record('LiveError', 'An error', {
    type: constant('error'),
    code: { type: 'string', enum: Object.keys(errorCodes), description: 'Error code' },
    message: text('Description of the error'),
    'id?': text('Id of the subscription with the error'),
    'subscriptions?': subscriptions,
    'oldest_cursor?': nullable(text('With CURSOR_TOO_OLD: the oldest position to resume from')),
    'cursor?': cursor,
  }),
]

/** Schema of the message that clients receive for an event. Several actions can cause the same event. */
function eventSchema(entry: EventEntry, meanings: readonly string[], about: NamedSchema): NamedSchema {
  const name = entry.event.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())
  return record(`Live${name}`, meanings.join(' '), {
    type: constant('event'),
    event: constant(entry.event),
    cursor,
    block,
    transaction: { type: 'string', pattern: '^[0-9a-f]{64}$', description: 'Transaction id' },
    global_sequence: shape.decimal('Global sequence number of the action on the chain'),
    action,
    entity: constant(entry.entity),
    id: text('Id of the record; for schemas and templates the collection precedes the id'),
    record: nullable(about),
    'subscriptions?': subscriptions,
    'too_large?': flag('True if the record is too large for a message; `record` is then null'),
    'path?': text('With too_large: path of the record in the REST API'),
  })
}

/** Schemas of the event messages of a namespace, by event name. */
export function eventSchemas(namespace: Namespace): Map<string, NamedSchema> {
  const own = eventCatalogue.filter(({ family }) => family === namespace.name)
  return new Map(
    own.map((entry) => {
      const meanings = own.filter(({ event }) => event === entry.event).map(({ meaning }) => meaning)
      return [entry.event, eventSchema(entry, meanings, namespace.records[entry.entity]!.schema)]
    }),
  )
}
