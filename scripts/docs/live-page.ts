import { apiLimits, liveMessages } from '../../services/api/index.ts'
import type { Namespace } from '../../services/api/index.ts'
import { eventCatalogue } from '../../services/core/live/index.ts'
import { limitTable } from './limits-part.ts'
import { code, table } from './markdown.ts'

type Schema = (typeof liveMessages.noticeSchemas)[number]

/** The page about live data: how clients connect, and all messages that they receive. */
export function renderLive(namespaces: readonly Namespace[]): string[] {
  const [example] = [...liveMessages.eventSchemas(namespaces[0]!).values()]
  return [
    '# Live data',
    'What happens on the chain is published as soon as it is committed, in the order of the chain, with the record that it is ' +
      'about exactly as the endpoint of that record answers it. Requests that follow a message show at least what the ' +
      'message says, on every process and replica. A namespace publishes the blocks of the reader that its ' +
      '`connected_reader` names; without one it publishes nothing. A reader that is far behind the head publishes only its lag.',
    'There are three ways to listen: a plain websocket, server-sent events, and socket.io as clients of the replaced ' +
      'system speak it. The first two can continue where they stopped; the JSON Schema of each of their messages is in ' +
      '`/openapi.json` under `x-live`.',
    '## Websocket',
    'At `{path}/v1/live`, for example `wss://HOST/assets/v1/live`. Messages are JSON objects in text frames. A client ' +
      'subscribes, as often as it likes; an event is sent once, however many subscriptions ask for it:',
    fence('{"type":"subscribe","id":"mine","events":["asset_minted"],"collections":["alpacaworlds"]}'),
    'Filters, each a list of which one value has to fit; all filters of a subscription have to fit, and without any it ' +
      'gets everything. Records are looked into as well: an event of a sale is found by the collection of the sale, ' +
      'whatever the action said.',
    table(
      ['Filter', 'Compared with'],
      Object.entries(liveMessages.filterMeanings).map(([name, meaning]) => [code(name), meaning]),
    ),
    '`id` (default `default`) names the subscription; the same id again replaces it, and ' +
      '`{"type":"unsubscribe","id":"mine"}` ends it. The answers are `subscribed` and `unsubscribed`. Clients that offer ' +
      '`permessage-deflate`, as browsers do, get messages compressed.',
    '## Event stream',
    'At `{path}/v1/events`, with the filters as parameters and no others: `/market/v1/events?events=sale_purchased&accounts=alice,bob`. ' +
      'The name of each server-sent event is the `type` of its message, but for errors, which are called `failure`; its ' +
      '`id` is the cursor, its data the same JSON. A browser that reconnects continues by itself. Comments keep the ' +
      'connection open.',
    fence(
      "const source = new EventSource('/assets/v1/events?collections=alpacaworlds')\n" +
        "source.addEventListener('event', ({ data }) => console.log(JSON.parse(data).event))\n" +
        "source.addEventListener('fork', ({ data }) => forgetFrom(JSON.parse(data).block_num))",
    ),
    '## Cursors and forks',
    'Messages carry a `cursor`: text that marks a position in the published events. Each subscription has a ' +
      'cursor of its own. A message with `subscriptions` moves the cursors of the subscriptions that it names; a ' +
      'message without `subscriptions` moves the cursors of all subscriptions of the connection that have got ' +
      'their `subscribed`. The `cursor` of `subscribed` belongs to the subscription that it names. A message ' +
      'without `cursor` moves no cursor.',
    'A subscription with `cursor` (of the event stream: `?cursor=` or `Last-Event-ID`) first gets every event ' +
      'that it missed, and then new events, each event once. A client may add it at any time, also further ' +
      'behind than the other subscriptions of the connection. The other subscriptions then wait until it has ' +
      'caught up, so that all events stay in the order of the chain. Until then messages have `subscriptions`, ' +
      'and an event that the other subscriptions have already got is sent again for the subscriptions that the ' +
      'message names. A subscription without a cursor begins at the position of the connection. If it comes ' +
      'within 10 s of the first subscription of the connection, it begins where the first one began, for clients ' +
      'that keep one cursor for all their subscriptions; events that another subscription has got are not sent ' +
      'again. Such a client keeps the cursor of the last message that has one.',
    'Events of blocks that were undone meanwhile are left out; if the client had seen some, one `fork` comes first. Records in ' +
      'missed events are as they were when they were first read, which is not before their block. Messages are stored for ' +
      'about a day (`feed_blocks` of the reader); a cursor from before gets an error `CURSOR_TOO_OLD` with the oldest cursor ' +
      'that can be used, and then new events. `position` ends what was missed, and gives clients without matching events a ' +
      'newer cursor at least every 30 s. Clients that resume take turns, by address: one that has to wait gets `waiting` at ' +
      'once, and again while it waits.',
    'A `fork` says that everything of `block_num` and above is undone; the blocks that replace it follow. A `gap` names ' +
      'blocks that are not published, because the reader was too far behind when it indexed them: read the records again.',
    '## Messages',
    ...liveMessages.noticeSchemas.flatMap(describeMessage),
    '### `event`',
    'Something happened to a record. `record` is null when there is none (any more), and when it is too large for a message: ' +
      'then `too_large` is true, and `path` is where REST answers it.',
    membersOf({
      ...example!,
      properties: {
        ...example!.properties,
        event: { type: 'string', description: 'Which, as below' },
        entity: { type: 'string', description: 'Kind of the record' },
        record: { type: ['object', 'null'], description: 'As REST answers it' },
      },
    }),
    '## Events',
    ...namespaces.flatMap(describeEvents),
    '## Errors',
    table(
      ['Code', 'Meaning'],
      Object.entries(liveMessages.errorCodes).map(([name, meaning]) => [code(name), meaning]),
    ),
    '## socket.io',
    'Clients of generations 2, 3 and 4, by websocket or polling, at `/socket.io/`; the client script is at ' +
      '`/socket.io/socket.io.js`. The name of a socket namespace is the path of the REST namespace (or an alias) and ' +
      'what the table says; others are refused with `Invalid namespace`. Where a room stands, a client has to ask for it, ' +
      'with all rooms that it wants: `socket.emit("subscribe", { new_sales: true })`.',
    table(
      ['Namespace', 'Event', 'Room', 'Action', 'Record'],
      eventCatalogue.flatMap(({ socket, family, action, entity }) =>
        (socket?.namespaces ?? []).map((name) => [
          code(`{${family}}${name}`),
          code(socket!.event) + (socket!.assetUpdate ? ' (`socket_features.asset_update`)' : ''),
          socket!.room === undefined ? '' : code(socket!.room),
          code(action),
          entity,
        ]),
      ),
    ),
    'Every payload has `transaction` (with the traces of its actions), `block`, `trace`, the id of the record and the ' +
      'record; `new_bid` also has `bid`. All namespaces send `fork` with `block_num`, once for each fork. Before the ' +
      'server ends a connection it sends `notice` with `code` and `message`. A transaction so large that its traces, ' +
      'repeated in the payload of each of its events, would exceed 4 MB shows in each payload only the trace of ' +
      'the event. A client cannot continue where it stopped: use the websocket or the event stream for that.',
    '## Limits',
    'Those with a name are set in server.config.json ([settings](settings.md)). An address is that of the client, ' +
      'which `trust_proxy` decides; of IPv6 addresses the first 56 bits count.',
    limitTable(apiLimits.live, 'live.'),
    'A websocket that the server closes ends with 1008 and a reason that begins with the code, after an error message that ' +
      'says more; the event stream ends after a `failure`. Pages of an origin that `cors` does not allow are refused with ' +
      '403. A server that stops sends `STOPPING` and close code 1001: the client can resume at once.',
  ]
}

function fence(text: string): string {
  return `\`\`\`js\n${text}\n\`\`\``
}

function describeMessage(schema: Schema): string[] {
  const type = schema.properties!.type!.const
  return [`### ${code(String(type))}`, `${schema.description!}.`, membersOf(schema)]
}

function membersOf({ properties = {}, required = [] }: Schema): string {
  return table(
    ['Member', 'Type', 'Meaning'],
    Object.entries(properties).map(([name, member]) => [
      code(name) + (required.includes(name) ? '' : ' (may be absent)'),
      member.const === undefined ? typeOf(member) : code(JSON.stringify(member.const)),
      member.description ?? '',
    ]),
  )
}

type Member = NonNullable<Schema['properties']>[string]

function typeOf(schema: Member): string {
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' or ')
  if (schema.title !== undefined) return schema.title
  return typeof schema.type === 'string' ? schema.type : (schema.type?.join(' or ') ?? 'any')
}

function describeEvents(namespace: Namespace): string[] {
  const own = eventCatalogue.filter(({ family }) => family === namespace.name)
  return [
    `### ${namespace.name}`,
    table(
      ['Event', 'Record', 'Action', 'Meaning'],
      own.map(({ event, entity, action, meaning }) => [
        code(event),
        namespace.records[entity]!.schema.title,
        code(action),
        meaning,
      ]),
    ),
  ]
}
