import { z } from 'zod'
import {
  accountName,
  blockNumber,
  flag,
  hostName,
  integer,
  list,
  oneOf,
  port,
  section,
  text,
  textLike,
  url,
} from '../fields.ts'

/** Zod schema of a reader name. */
export function readerName() {
  return textLike(/^[A-Za-z0-9._-]{1,64}$/, '1 to 64 letters, digits, dots, underscores or hyphens')
}

const storeLogs = (what: string) => flag().default(false).describe(`Store the logs of ${what}.`)
const HANDLER_TEXT = 'Contract family, or state.'

const assetsHandler = section({
  handler: z.literal('assets').describe(HANDLER_TEXT),
  args: section({
    assets_account: accountName().describe('Account of the assets contract.'),
    store_transfers: flag().default(false).describe('Store the history of transfers.'),
    store_logs: storeLogs('collections, schemas, templates and assets'),
  }).describe('Arguments of the handler.'),
})
const marketHandler = section({
  handler: z.literal('market').describe(HANDLER_TEXT),
  args: section({
    market_account: accountName().describe('Account of the market contract.'),
    assets_account: accountName()
      .optional()
      .describe('Account of the assets contract. Default: the account of the assets handler.'),
    oracle_account: accountName()
      .optional()
      .describe('Account of the oracle contract. Default: the account of the oracle handler.'),
    store_logs: storeLogs('listings'),
  }).describe('Arguments of the handler.'),
})
const oracleHandler = section({
  handler: z.literal('oracle').describe(HANDLER_TEXT),
  args: section({
    oracle_account: accountName().describe('Account of the oracle contract.'),
  }).describe('Arguments of the handler.'),
})
const toolsHandler = section({
  handler: z.literal('tools').describe(HANDLER_TEXT),
  args: section({
    tools_account: accountName().describe('Account of the tools contract.'),
    assets_account: accountName()
      .optional()
      .describe('Account of the assets contract. Default: the account of the assets handler.'),
    store_logs: storeLogs('links'),
  }).describe('Arguments of the handler.'),
})

const stateHandler = section({
  handler: z.literal('state').describe(HANDLER_TEXT),
  args: section({
    accounts: list(accountName(), 1000)
      .default([])
      .describe('Contracts whose table rows are stored as of every block, for the state service.'),
    permissions: flag()
      .default(false)
      .describe('Store the permissions of all accounts and their links to actions.'),
    history_blocks: integer(0, 1_000_000_000)
      .default(172_800)
      .describe(
        'Number of blocks below the head whose state can be queried; 0 = all blocks. A day has 172,800 blocks.',
      ),
  }).describe('Arguments of the handler.'),
})

const handlerNames = ['assets', 'market', 'oracle', 'tools', 'state'] as const

/** Zod schema of an entry of `contracts`. */
export const contractSchema = z.discriminatedUnion(
  'handler',
  [assetsHandler, marketHandler, oracleHandler, toolsHandler, stateHandler],
  {
    error: (issue) =>
      typeof issue.input === 'object' && issue.input !== null
        ? oneOf(handlerNames, Reflect.get(issue.input, 'handler'))
        : 'an object { … }',
  },
)

const listPoll = section({
  url: url(['http', 'https'], 'https://lists.example/all').describe('Address of a source of named lists.'),
  api_key: text(1, 1024).optional().describe('API key, sent to the source in the header X-API-Key.'),
  frequency: integer(1, 86_400).default(600).describe('Seconds between two requests.'),
})

const MODULES_ALLOWED = 'an empty list: filter modules of the replaced system are not loaded'

/** Zod schema of an entry of `readers.config.json`. */
export const readerSchema = section({
  name: readerName().describe(
    'Identity of the reader. The name must be unique, and must not change once the reader has started.',
  ),
  server_addr: hostName()
    .default('0.0.0.0')
    .describe('Address of the health and metrics listener. Only the value of the first reader counts.'),
  server_port: port()
    .default(9001)
    .describe('Port of the health and metrics listener. Only the value of the first reader counts.'),
  start_block: blockNumber()
    .default(0)
    .describe(
      'First block to index. After the reader has run, the setting may only be raised above the last indexed block.',
    ),
  start_block_override: flag()
    .default(false)
    .describe(
      'Allow a `start_block` other than the known start block of the chain, and allow handlers to be added after the first start. Data from earlier blocks will be missing.',
    ),
  stop_block: blockNumber().default(0).describe('Last block to index (inclusive); 0 = never stop.'),
  irreversible_only: flag().default(false).describe('Index only blocks that no fork can undo.'),
  ship_prefetch_blocks: integer(1, 100_000)
    .default(50)
    .describe('Maximum number of blocks that the node may send before the reader acknowledges them.'),
  ship_min_block_confirmation: integer(1, 100_000)
    .optional()
    .describe(
      'Number of received blocks after which the reader sends an acknowledgement to the node. If absent or larger than ship_prefetch_blocks: half of ship_prefetch_blocks, at least 1.',
    ),
  ship_max_message_bytes: integer(2 ** 20, 2 ** 31 - 1)
    .default(2 ** 28)
    .describe(
      'Maximum size of a message from the node (bytes). A block has a few megabytes at most, but the first block of a node that started from a snapshot contains the whole chain state.',
    ),
  ship_check_roots: flag()
    .default(true)
    .describe(
      'Compare the transactions and actions of each reversible block with the Merkle roots in its header. The reader no longer uses a node that sends a block with a different root. Set to false for a chain with other rules for Merkle roots.',
    ),
  ship_check_history_roots: flag()
    .default(false)
    .describe(
      'With ship_check_roots: also compare irreversible blocks, for a node that you do not trust. Reading these blocks then takes about ten times as long.',
    ),
  ship_ds_queue_size: integer(1, 100_000)
    .default(20)
    .describe('Maximum number of decoded blocks waiting for the database.'),
  ship_max_blocks_queue: integer(1, 1_000_000)
    .optional()
    .describe(
      'Maximum number of received blocks waiting to be decoded; if not set, only the limit in bytes applies.',
    ),
  ds_ship_threads: integer(0, 256)
    .default(0)
    .describe(
      "Number of decoding threads in addition to the reader's thread; 0 = only the reader's thread decodes.",
    ),
  db_group_blocks: integer(1, 100_000)
    .default(100)
    .describe(
      'Minimum number of blocks that one database transaction contains while the reader catches up; blocks that change no row do not count. A transaction has more blocks when the database is busy or the head is far ahead.',
    ),
  feed_blocks: integer(1_000, 100_000_000)
    .default(172_800)
    .describe(
      'Number of blocks whose live events are stored, for clients that resume with a cursor. The default is the number of blocks of one day.',
    ),
  seal_history: flag()
    .default(true)
    .describe(
      'Seal the history of irreversible blocks in the background, once the reader has reached the head: see docs/seals.md.',
    ),
  feed_max_behind: integer(1, 100_000)
    .default(200)
    .describe(
      "Distance to the head (blocks) beyond which the reader publishes no events. Until it has reached the head again, live clients get only the reader's lag.",
    ),
  modules: z
    .array(z.never({ error: MODULES_ALLOWED }), { error: MODULES_ALLOWED })
    .max(0, { error: MODULES_ALLOWED })
    .default([])
    .meta({ allowed: MODULES_ALLOWED })
    .describe('Filter modules of the replaced system, which are not supported; an empty list is accepted.'),
  contracts: list(contractSchema, 16, 1).describe(
    'The handlers of the reader: the contract families to index, and `state`.',
  ),
  delete_data: flag()
    .default(false)
    .describe('Delete the rows of this reader at every start and index again.'),
  list_polls: list(listPoll, 64)
    .default([])
    .describe('Sources of the named lists of accounts and collections.'),
  accept_v2_gap: flag()
    .default(false)
    .describe('Continue with a database that has a gap in the data of version 2 of the market contract.'),
})

/** Zod schema of `readers.config.json`. */
export const readersSchema = list(readerSchema, 64, 1)

/** Type of an entry of `contracts`; `handler` determines the `args`. */
export type ContractConfig = z.output<typeof contractSchema>
/** Name of a contract family that can be indexed. */
export type HandlerName = ContractConfig['handler']
/** Type of a validated entry of `readers.config.json` with all defaults. */
export type ReaderConfig = z.output<typeof readerSchema> & { ship_min_block_confirmation: number }
