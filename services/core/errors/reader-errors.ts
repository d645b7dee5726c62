import type { ErrorEntry } from './entry.ts'
import { fillerCommand } from './filler-command.ts'

/** Errors of the filler and of imports. */
export const readerErrors = {
  READER_FAMILIES_DIFFER: {
    meaning: 'A reader indexes a market without the assets and oracle contracts on which the market depends.',
    remedy: {
      standalone:
        'Give the accounts that the message names: `npm start -- --assets-account NAME --oracle-account NAME`, or leave the market out with `--market-account none`.',
      appliance:
        'Set ASSETS_ACCOUNT and ORACLE_ACCOUNT in `.env` to the accounts that the message names, or set MARKET_ACCOUNT=none to index no market; then run `docker compose up -d --wait`.',
      process:
        'Add an assets handler and an oracle handler, with the accounts that the message names, to `contracts` of the same reader.',
    },
  },
  READER_LEASE_HELD: {
    meaning:
      'Another process holds the lease of this reader, and only the holder may write rows of the reader.',
    remedy: {
      standalone: 'First stop the process that the message names: a reader has at most one writer.',
      appliance:
        'First stop the process that the message names: a reader has at most one writer. `docker compose stop filler` stops the writer in the containers.',
      process: 'First stop the process that the message names: a reader has at most one writer.',
    },
  },
  READER_LEASE_LOST: {
    meaning:
      "The database session that held the reader's lease was closed, so this process must not write any more.",
    remedy: {
      standalone:
        'Start again with `npm start` and the same options; the reader continues after the last committed block.',
      appliance:
        'No action is needed: the container restarts, and the reader continues after the last committed block.',
      process: 'Start `pronghorn filler` again; the reader continues after the last committed block.',
    },
  },
  READER_SETTINGS_CHANGED: {
    meaning: 'The settings of a reader do not fit the data that it has already indexed.',
    remedy: {
      standalone:
        'Start with the options that filled this `--data` directory (the same node or the demo chain, the same accounts and start block), or use another directory.',
      appliance:
        'The message names a setting: in `.env`, set the variable of this setting to the former value, or set POSTGRES_DATABASE to a new database and index again. Then run `docker compose up -d --wait`.',
      process:
        'The message names a setting: set this setting to the former value, or use a new reader `name` on an empty database. `start_block_override` accepts missing blocks; `delete_data` deletes the rows of the reader and indexes again.',
    },
  },
  UNDO_JOURNAL_EXHAUSTED: {
    meaning: 'A fork undoes blocks below the oldest block that the database can roll back.',
    remedy: {
      standalone:
        'Nothing was changed. Index again with another `--data` directory, or use a node on the indexed branch of the fork (`--ship`, `--http`).',
      appliance:
        'Nothing was changed. Restore a backup that is older than the fork (`scripts/restore NAME`).',
      process:
        'Nothing was changed. Restore a backup that is older than the fork, or index again into an empty database.',
    },
  },
  BLOCK_FAILED: {
    meaning: 'A block could not be indexed. The message names block, transaction, action and cause.',
    remedy: {
      standalone:
        'Every earlier block is committed. Start again with the same `--data` directory, and report the message if the error repeats at the same block. To leave out only that block, add `--start-block {start}` (on a known chain also `--start-block-override`); the gap is recorded.',
      appliance:
        'Every earlier block is committed. Report the message if the error repeats at the same block after a restart. To leave out only that block, set START_BLOCK={start} and START_BLOCK_OVERRIDE=true in `.env`, then run `docker compose up -d --wait`; the gap is recorded.',
      process:
        'Every earlier block is committed. Report the message if the error repeats at the same block after a restart. To leave out only that block, set `start_block` to {start} and `start_block_override` to true; the gap is recorded.',
    },
  },
  IMPORT_SOURCE_UNAVAILABLE: {
    meaning: 'The source database of an import cannot be reached, or refuses the login.',
    remedy:
      'Check the given address, and whether the server accepts connections from this machine (`listen_addresses`, `pg_hba.conf`).',
  },
  IMPORT_SOURCE_UNFIT: {
    meaning: 'The source database cannot be imported at all, or not in its current state.',
    remedy: {
      standalone:
        'Correct the cause that the message names. The same command with `--dry-run` repeats the checks and changes nothing.',
      appliance: `Correct the cause that the message names. \`${fillerCommand('import-database ADDRESS --dry-run')}\` repeats the checks and changes nothing.`,
      process:
        'Correct the cause that the message names. `pronghorn import-database ADDRESS --dry-run` repeats the checks and changes nothing.',
    },
  },
  IMPORT_SOURCE_INCOMPLETE: {
    meaning: 'The source database of an import lacks rows, blocks or logs that a complete source contains.',
    remedy:
      'Complete the source database and run the same command again: the import starts over. To accept the gaps that the message names, run the command with `--allow-gaps`: the import continues where it stopped, and `verify` and `/health` report the missing data.',
  },
  IMPORT_TARGET_FILLED: {
    meaning: 'An import was requested into a database in which the reader has already indexed blocks.',
    remedy: {
      standalone: 'Nothing was changed. Import into a new database.',
      appliance: 'Nothing was changed. Import into a new database (POSTGRES_DATABASE in `.env`).',
      process: 'Nothing was changed. Import into a new database (`sqldb.database`, POSTGRES_DATABASE).',
    },
  },
  IMPORT_UNFINISHED: {
    meaning: 'An import into this database was interrupted, so the database is incomplete.',
    remedy: {
      standalone: 'Start the same import again: it continues, or starts over if the source has changed.',
      appliance: `Start the same import again (\`${fillerCommand('import-database ADDRESS')}\`): it continues, or starts over if the source has changed.`,
      process:
        'Run the same `pronghorn import-database` or `pronghorn import-state` again: it continues, or starts over if the source has changed.',
    },
  },
  LIST_SOURCE_FAILED: {
    meaning: 'A source of named lists did not answer in time, or its answer does not contain valid lists.',
    remedy:
      'No action is needed: the reader keeps the lists that the source last returned, and requests the source again. If the error repeats, check the address and the source.',
  },
} as const satisfies Record<string, ErrorEntry>
