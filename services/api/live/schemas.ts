import { eventCatalogue } from '../../core/live/index.ts'
import type { EventEntry } from '../../core/live/index.ts'
import type { Namespace, NamedSchema, RecordSchema } from '../endpoint/index.ts'
import { shape } from '../endpoint/index.ts'
import { errorCodes } from './outgoing.ts'

const { flag, integer, list, nullable, object, record, text } = shape

const cursor = text('Where a client that has got the message is; given back, it leads to what came after')
const subscriptions = list(
  text('Id'),
  'Subscriptions that the message is for, and whose cursors it moves; absent when it moves those of all',
)
const constant = (value: string): RecordSchema => ({ type: 'string', const: value })

const block = object(
  {
    num: integer('Number'),
    id: { type: 'string', pattern: '^[0-9a-f]{64}$', description: 'Id' },
    time: integer('Time, ms since 1970'),
  },
  'The block that the event is in',
)

const action = object(
  {
    account: text('Contract'),
    name: text('Action'),
    authorization: list(object({ actor: text('Account'), permission: text('Its permission') })),
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
    id: text('Of the subscription'),
    filters: object({}, 'As subscribed'),
    'cursor?': cursor,
  }),
  record('LiveUnsubscribed', 'A subscription was removed', {
    type: constant('unsubscribed'),
    id: text('Of the subscription'),
  }),
  record('LiveFork', 'Everything of this block and those after it is undone; what replaces it follows', {
    type: constant('fork'),
    block_num: integer('First undone block'),
    'subscriptions?': subscriptions,
    cursor,
  }),
  record('LiveGap', 'Blocks without published events, because the reader was far behind the head', {
    type: constant('gap'),
    from_block: nullable(integer('First of them; null when that is not known')),
    to_block: integer('Last of them'),
    'subscriptions?': subscriptions,
    cursor,
  }),
  record('LiveLag', 'How far the reader is; often while it is behind, now and then otherwise', {
    type: constant('lag'),
    block_num: integer('Last committed block'),
    head_block: integer('Where the reader is going'),
    behind: integer('Blocks between them'),
    live: flag('False while the reader is too far behind to publish blocks'),
    'cursor?': cursor,
  }),
  record('LivePosition', 'The client has got everything that its subscriptions match up to here', {
    type: constant('position'),
    'cursor?': cursor,
  }),
  record('LiveWaiting', 'The client waits for its turn to get what it missed; sent again while it waits', {
    type: constant('waiting'),
    clients: integer('Clients that wait'),
  }),
  record('LiveError', 'Something is wrong', {
    type: constant('error'),
    code: { type: 'string', enum: Object.keys(errorCodes), description: 'Kind of error' },
    message: text('The same in words'),
    'id?': text('Of the subscription that is meant'),
    'subscriptions?': subscriptions,
    'oldest_cursor?': nullable(text('With CURSOR_TOO_OLD: the oldest position to resume from')),
    'cursor?': cursor,
  }),
]

/** Schema of an event's message. Several actions may cause the same event. */
function eventSchema(entry: EventEntry, meanings: readonly string[], about: NamedSchema): NamedSchema {
  const name = entry.event.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())
  return record(`Live${name}`, meanings.join(' '), {
    type: constant('event'),
    event: constant(entry.event),
    cursor,
    block,
    transaction: { type: 'string', pattern: '^[0-9a-f]{64}$', description: 'Transaction' },
    global_sequence: shape.decimal('Place of the action in the order of the whole chain'),
    action,
    entity: constant(entry.entity),
    id: text('Of the record; of schemas and templates with the collection before it'),
    record: nullable(about),
    'subscriptions?': subscriptions,
    'too_large?': flag('True when the record is too large for a message: `record` is null'),
    'path?': text('With too_large: where REST answers the record'),
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
