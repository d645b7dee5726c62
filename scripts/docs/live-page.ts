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
    'The api publishes every event as soon as its block is committed, in the order of the chain. ' +
      'An event contains the record that it is about, exactly as the endpoint of that record returns it. ' +
      'A request that follows a message never sees an older state than the message, on every process and replica. ' +
      'A namespace publishes the blocks of the reader that `connected_reader` names; without this setting it publishes nothing. ' +
      'A reader that is far behind the head publishes only its lag.',
    'Clients can use three protocols: a plain websocket, server-sent events, and socket.io in the form of the replaced system. ' +
      'A client of the websocket or of the event stream can resume after a disconnect; under `x-live`, `/openapi.json` contains the JSON Schema of each message of these two protocols.',
    '## Websocket',
    'Clients connect to `{path}/v1/live`, for example `wss://HOST/assets/v1/live`. ' +
      'Messages are JSON objects in text frames. ' +
      'A client may have several subscriptions; an event that several subscriptions match is sent once:',
    fence('{"type":"subscribe","id":"mine","events":["asset_minted"],"collections":["alpacaworlds"]}'),
    'Each filter is a list of values. ' +
      'A filter matches if one of its values matches; a subscription matches if all of its filters match, and without filters it gets all events. ' +
      'Filters also look into the record: a filter by collection finds an event of a sale in this collection even if the action does not contain the collection.',
    table(
      ['Filter', 'Compared with'],
      Object.entries(liveMessages.filterMeanings).map(([name, meaning]) => [code(name), meaning]),
    ),
    '`id` (default `default`) names the subscription. ' +
      'A subscription with the same id replaces the former one, and `{"type":"unsubscribe","id":"mine"}` ends it. ' +
      'The server answers `subscribed` and `unsubscribed`. ' +
      'Clients that offer `permessage-deflate`, as browsers do, get compressed messages.',
    '## Event stream',
    'Clients request `{path}/v1/events`, with the filters as the only parameters: `/market/v1/events?events=sale_purchased&accounts=alice,bob`. ' +
      'The name of a server-sent event is the `type` of the message, except that an error has the name `failure`. ' +
      'The `id` of the server-sent event is the cursor, and its data are the JSON of the message. ' +
      'A browser that reconnects resumes by itself. ' +
      'The server sends comments to keep the connection open.',
    fence(
      "const source = new EventSource('/assets/v1/events?collections=alpacaworlds')\n" +
        "source.addEventListener('event', ({ data }) => console.log(JSON.parse(data).event))\n" +
        "source.addEventListener('fork', ({ data }) => forgetFrom(JSON.parse(data).block_num))",
    ),
    '## Cursors and forks',
    'Messages carry a `cursor`: text that marks a position in the published events. ' +
      'Each subscription has a separate cursor. ' +
      'A message with `subscriptions` moves the cursors of the subscriptions that it names; a message without `subscriptions` moves the cursors of all subscriptions of the connection that the server has confirmed with `subscribed`. ' +
      'The `cursor` of a `subscribed` message belongs to the subscription that the message names. ' +
      'A message without `cursor` moves no cursor.',
    'A subscription with `cursor` (of the event stream: `?cursor=` or `Last-Event-ID`) first gets every event that it missed, and then new events, each event once. ' +
      'A client may add a subscription with a cursor at any time, also if the cursor is before the position of the other subscriptions. ' +
      'In this case the other subscriptions wait until the new subscription has caught up, so that all events stay in the order of the chain. ' +
      'While the new subscription catches up, `subscriptions` names the subscriptions for which a message is sent; an event that other subscriptions have already received is sent again. ' +
      'A subscription without a cursor begins at the position that the connection has reached in the published events. ' +
      'If the server receives a subscription without a cursor within 10 s after the first subscription of the connection, the later subscription begins at the start position of the first subscription; events that another subscription has received are not sent again. ' +
      'Clients can therefore store one cursor for all their subscriptions: the cursor of the last message with a cursor.',
    'Missed events of blocks that a fork has undone are omitted. If the client had already received events of undone blocks, one `fork` message comes first. ' +
      'The record in a missed event has the state in which the api first read the record: the state at the block of the event, or at a later block. ' +
      'Messages are stored for about a day (`feed_blocks` of the reader). ' +
      'For an older cursor the client gets the error `CURSOR_TOO_OLD` with the oldest usable cursor, and then new events. ' +
      'A `position` message follows the last missed event, and gives clients without matching events a newer cursor at least every 30 s. ' +
      'The api sends missed events to resuming clients in turns, and the client addresses take turns. A client that has to wait gets the message `waiting` at once, and again from time to time until its turn begins.',
    'A `fork` means that `block_num` and all later blocks are undone; the replacing blocks follow. ' +
      'A `gap` names blocks without published events, because the reader was too far behind when it indexed them: the client has to read the records again.',
    '## Messages',
    ...liveMessages.noticeSchemas.flatMap(describeMessage),
    '### `event`',
    'An action has changed a record. ' +
      '`record` is null if the record does not exist, or no longer exists. ' +
      '`record` is also null if the record is too large for a message: `too_large` is then true, and `path` is the path of the record in the REST API.',
    membersOf({
      ...example!,
      properties: {
        ...example!.properties,
        event: { type: 'string', description: 'Name of the event, listed below' },
        entity: { type: 'string', description: 'Record type' },
        record: { type: ['object', 'null'], description: 'The record as in the REST API' },
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
    'Clients of socket.io 2, 3 and 4 connect to `/socket.io/`, by websocket or polling; the client script is at `/socket.io/socket.io.js`. ' +
      'The name of a socket namespace is the path of the REST namespace (or an alias), followed by the text in the table; other names are refused with `Invalid namespace`. ' +
      'For an event with a room, a client must subscribe to the room, in one message with all its rooms: `socket.emit("subscribe", { new_sales: true })`.',
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
    'Every payload has `transaction` (with the traces of its actions), `block`, `trace`, the id of the record and the record; `new_bid` also has `bid`. ' +
      'All namespaces send `fork` with `block_num`, once for each fork. ' +
      'Before the server ends a connection it sends `notice` with `code` and `message`. ' +
      'If the traces of a transaction, repeated in the payload of each of its events, would exceed 4 MB, each payload contains only the trace of the event. ' +
      'A socket.io client cannot resume after a disconnect; clients of the websocket or of the event stream can.',
    '## Limits',
    'Limits with a setting can be changed in server.config.json ([settings](settings.md)). ' +
      'An address is the client address as `trust_proxy` determines it; for IPv6 it is the first 56 bits.',
    limitTable(apiLimits.live, 'live.'),
    'Before the server closes a websocket, it sends an error message; the close code is 1008, and the reason begins with the code of the error. ' +
      'The event stream ends after a `failure`. ' +
      'Pages of an origin that `cors` does not allow are refused with 403. ' +
      'A server that stops sends `STOPPING` and close code 1001: the client can resume at once.',
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
