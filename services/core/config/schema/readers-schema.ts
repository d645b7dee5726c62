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

/** Schema of a reader name. */
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
      .describe('Account of the assets contract; that of the assets handler when absent.'),
    oracle_account: accountName()
      .optional()
      .describe('Account of the oracle contract; that of the oracle handler when absent.'),
    store_logs: storeLogs('sales, auctions and buy offers'),
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
      .describe('Account of the assets contract; that of the assets handler when absent.'),
    store_logs: storeLogs('links'),
  }).describe('Arguments of the handler.'),
})

const stateHandler = section({
  handler: z.literal('state').describe(HANDLER_TEXT),
  args: section({
    accounts: list(accountName(), 1000)
      .default([])
      .describe('Contracts whose rows are stored as they are at every block, for the state service.'),
    permissions: flag()
      .default(false)
      .describe('Store the permissions of all accounts and their links to actions.'),
    history_blocks: integer(0, 1_000_000_000)
      .default(172_800)
      .describe('Blocks below the head whose state can be queried; 0 = all. A day has 172,800.'),
  }).describe('Arguments of the handler.'),
})

const handlerNames = ['assets', 'market', 'oracle', 'tools', 'state'] as const

/** Schema of an entry of `contracts`. */
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
  url: url(['http', 'https'], 'https://lists.example/all').describe('Address that answers with named lists.'),
  api_key: text(1, 1024).optional().describe('Sent as the header X-API-Key.'),
  frequency: integer(1, 86_400).default(600).describe('Seconds between two requests.'),
})

const MODULES_ALLOWED = 'an empty list: filter modules of the replaced system are not loaded'

/** Schema of an entry of `readers.config.json`. */
export const readerSchema = section({
  name: readerName().describe(
    'Identity of the reader. It must be unique and must not change once it has started.',
  ),
  server_addr: hostName()
    .default('0.0.0.0')
    .describe('Address of the health and metrics listener; that of the first reader counts.'),
  server_port: port()
    .default(9001)
    .describe('Port of the health and metrics listener; that of the first reader counts.'),
  start_block: blockNumber()
    .default(0)
    .describe(
      'First block to index; once the reader has run it may only be raised above the last indexed block.',
    ),
  start_block_override: flag()
    .default(false)
    .describe(
      'Allow another `start_block` than the one that is known of the chain, and handlers that are added later; what came before is missing.',
    ),
  stop_block: blockNumber().default(0).describe('Last block to index, itself included; 0 = never stop.'),
  irreversible_only: flag().default(false).describe('Index only blocks that no fork can undo.'),
  ship_prefetch_blocks: integer(1, 100_000)
    .default(50)
    .describe('Maximum number of blocks that the node may send before they are confirmed.'),
  ship_min_block_confirmation: integer(1, 100_000)
    .optional()
    .describe(
      'Blocks after which the reader confirms. Absent or larger than the window of ship_prefetch_blocks: half of that window, at least 1.',
    ),
  ship_max_message_bytes: integer(2 ** 20, 2 ** 31 - 1)
    .default(2 ** 28)
    .describe(
      'Largest message that the node may send. A block has a few megabytes at most; the first after a snapshot start carries the whole chain state.',
    ),
  ship_check_roots: flag()
    .default(true)
    .describe(
      'Compare the transactions and actions of each reversible block with the Merkle roots in its header. A node whose block differs is left out. False: for a chain with other rules for these roots.',
    ),
  ship_check_history_roots: flag()
    .default(false)
    .describe(
      'With ship_check_roots: compare the irreversible blocks too. Reading them takes about ten times as long; for a node of somebody else.',
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
    .describe('Threads that decode in addition to the thread of the reader; 0 = it decodes itself.'),
  db_group_blocks: integer(1, 100_000)
    .default(100)
    .describe(
      'Blocks with changes that are worth a transaction while catching up; it takes more when the database is busy or the head is far ahead.',
    ),
  feed_blocks: integer(1_000, 100_000_000)
    .default(172_800)
    .describe(
      'Blocks whose live events are stored, for clients that come back with a cursor; the default is a day.',
    ),
  seal_history: flag()
    .default(true)
    .describe(
      'Seal the history of irreversible blocks in the background, once the reader has reached the head: see docs/seals.md.',
    ),
  feed_max_behind: integer(1, 100_000)
    .default(200)
    .describe(
      'Blocks behind the head from which on the reader sends live clients nothing but its lag, until it has reached the head again.',
    ),
  modules: z
    .array(z.never({ error: MODULES_ALLOWED }), { error: MODULES_ALLOWED })
    .max(0, { error: MODULES_ALLOWED })
    .default([])
    .meta({ allowed: MODULES_ALLOWED })
    .describe('Accepted for existing files; must be empty.'),
  contracts: list(contractSchema, 16, 1).describe('What is indexed.'),
  delete_data: flag()
    .default(false)
    .describe('Delete the rows of this reader at every start and index again.'),
  list_polls: list(listPoll, 64)
    .default([])
    .describe('Where named lists of accounts and collections come from.'),
  accept_v2_gap: flag()
    .default(false)
    .describe('Continue with a database that has not recorded the data of contract version 2 without a gap.'),
})

/** Schema of `readers.config.json`. */
export const readersSchema = list(readerSchema, 64, 1)

/** Type of an entry of `contracts`; `handler` determines the `args`. */
export type ContractConfig = z.output<typeof contractSchema>
/** Name of a contract family that can be indexed. */
export type HandlerName = ContractConfig['handler']
/** Type of a validated entry of `readers.config.json` with all defaults. */
export type ReaderConfig = z.output<typeof readerSchema> & { ship_min_block_confirmation: number }
