import { storeStates } from '../../core/kvstore/index.ts'
import { shape } from '../endpoint/index.ts'

const { choice, decimal, flag, integer, list, nullable, number, object, record, text, time } = shape

const reader = object({
  name: text('Reader'),
  state: nullable(
    text(
      'State of the reader: connecting, catching-up, live, stopped, or `stopped at stop_block N` (not a problem)',
    ),
  ),
  block_num: decimal('Last committed block'),
  block_time: time('Time of the last committed block'),
  head_block: nullable(decimal('Head block that the reader has reported')),
  lag_blocks: integer('Blocks behind the head'),
  lag_seconds: number('Seconds behind the head'),
  blocks_per_second: nullable(number('Blocks committed per second')),
  seconds_since_commit: nullable(number('Seconds since the last commit')),
  seconds_since_message: nullable(number('Seconds since the chain node sent a complete message')),
  seconds_since_block: nullable(number('Seconds since the chain node sent a block')),
  history_since_block: nullable(
    decimal(
      'First block with complete history; null if the history is complete from the first indexed block on',
    ),
  ),
  missing_rows: list(
    text('A rule of `verify` that missing rows break, and some of these rows'),
    'Rows that were missing in the source database of the import; the operator accepted the import without these rows',
  ),
  missing_blocks: list(
    object({ first_block: decimal('First block'), last_block: decimal('Last block') }),
    "Blocks that were not indexed because the reader's start_block was raised",
  ),
  nodes: list(
    object({
      state: text(
        'State of the node: connecting, watched (sends no blocks), reading (sends a range of blocks), followed (sends new blocks) or failed',
      ),
      head_block: nullable(decimal('Newest head block that the node reported')),
      blocks_behind: nullable(
        integer('Blocks by which the head of the node is behind the newest head of all nodes'),
      ),
      bytes_per_second: integer('Bytes received from the node per second'),
      faults: integer('Number of times that the reader lost, abandoned or refused the node'),
    }),
    'The chain nodes that the reader reads from',
  ),
  problem: nullable(text('Problem that stops the reader')),
  seconds_since_heartbeat: nullable(number('Seconds since the last heartbeat of the reader')),
})

const server = object({
  server: text('Primary or replica'),
  state: text('State of the server: ready, behind, unavailable, or foreign (not a standby of the primary)'),
  lag_ms: nullable(integer('Milliseconds behind the primary')),
  in_use: flag('Whether this process of the API reads from the database server now'),
})

const feed = object({
  reader: text('Reader'),
  sequence: nullable(
    decimal("Sequence number of the newest entry that the server has read from the reader's feed"),
  ),
  via: nullable(
    text('bus: feed entries are received as blocks are committed; database: feed entries are polled'),
  ),
  live: nullable(flag('False while the reader is too far behind the head to publish blocks')),
  block_num: nullable(decimal('Last committed block of the reader')),
})

/** Schema of `data` in the response of `/health`. */
export const healthRecord = record('Health', 'Health of the server, and the position of each reader', {
  version: text('Version of the program'),
  postgres: object({
    status: choice('State of the database', ['OK', 'INVALID', 'ERROR']),
    readers: list(object({ name: text('Reader'), block_num: decimal('Last committed block') })),
  }),
  redis: object({ status: choice('State of the key-value store', ['OK', 'ERROR']) }),
  chain: object({
    status: choice('ERROR if the head block of the chain is older than 20 s, or if its time is unknown', [
      'OK',
      'ERROR',
    ]),
    head_block: integer('Head of the chain'),
    head_time: nullable(
      integer(
        'Time of the head, ms since 1970; if unknown, estimated from the newest block with a known time',
      ),
    ),
    chain_id: text('Chain id'),
    'demo?': flag('True for the bundled demo chain'),
    service: object({
      status: choice('degraded: answers are right, but there is a problem; unhealthy: use another server', [
        'healthy',
        'degraded',
        'unhealthy',
      ]),
      reasons: list(text('Problem'), 'Problems that are the reason of the status'),
      database: text('State of the database'),
      cache_hit_share: nullable(
        number(
          'Share of the pages used in the last minute that PostgreSQL had in `shared_buffers`, from 0 to 1',
        ),
      ),
      'servers?': list(server, 'Database servers, if there are replicas'),
      kvstore: choice('State of the key-value store: up, unavailable, or why it refuses writes', storeStates),
      kvstore_kind: text('Kind of the key-value store'),
      readers: list(reader),
      live: list(feed, 'State of the feeds of the readers, for live data'),
    }),
  }),
})
