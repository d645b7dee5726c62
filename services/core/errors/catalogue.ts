import { chainErrors } from './chain-errors.ts'
import { databaseErrors } from './database-errors.ts'
import { dumpErrors } from './dump-errors.ts'
import type { ErrorEntry } from './entry.ts'
import { readerErrors } from './reader-errors.ts'

/**
 * Every error code of the program. `docs/errors.md` is generated from this table, and an unknown code does not
 * compile. Each area has its own file: append a new code to its area.
 */
export const errorCatalogue = {
  // Configuration and command line
  CONFIG_INVALID: {
    meaning: 'One or more settings are missing, malformed, or contradict one another.',
    remedy: {
      standalone: 'Correct the options that the message names; `npm start -- --help` explains each.',
      appliance:
        'Correct every listed problem in `.env`; `scripts/check` repeats the list without changing anything.',
      process:
        'Correct every listed problem; `pronghorn config check` lists the problems of the configuration files without starting anything, and `pronghorn render-config --check` lists the problems of the variables.',
    },
  },
  USAGE: {
    meaning: 'The command line names an unknown command or option, or an option has an unusable value.',
    remedy: 'Read `{help}`.',
  },
  WRONG_MODE: {
    meaning: 'A command that works on the folders of the containers was started elsewhere.',
    remedy: {
      standalone:
        'Name the folder that render-config has written with `--rendered`; `npm start` needs no such folder.',
      appliance: 'Start it with `docker compose run --rm`, which has the folders in place (docs/operate.md).',
      process:
        'Name the folder that `pronghorn render-config` has written with `--rendered`; without containers no such folder is needed (docs/without-containers.md).',
    },
  },
  INSTALLATION_BROKEN: {
    meaning: 'A file that belongs to the program is missing or unreadable.',
    remedy: {
      standalone:
        'Restore the files of the program with `git checkout .` where it was cloned, then `npm ci` and `npm start`.',
      appliance:
        'Build or pull the image again: `docker compose build config`, or `docker compose pull config`.',
      process:
        'Restore the files of the program with `git checkout .` where it was cloned, then `npm ci && npm run build`.',
    },
  },
  NODEJS_TOO_OLD: {
    meaning: 'The version of Node.js is older than the program requires.',
    remedy: {
      standalone: 'Install Node.js 24 (https://nodejs.org), then `npm ci` and `npm start`.',
      appliance: 'The image brings its own Node.js: start the containers with `docker compose up -d --wait`.',
      process: 'Install Node.js 24 (https://nodejs.org), then `npm ci && npm run build`.',
    },
  },

  ...chainErrors,
  ...readerErrors,
  ...databaseErrors,
  ...dumpErrors,

  // Live data
  FEED_MESSAGE_MALFORMED: {
    meaning:
      'A message on the bus between the processes is malformed. The message is skipped, and the entry is read from the database.',
    remedy:
      'Check that no other program writes to the channels of this chain, and that all processes have the same version.',
  },
  CURSOR_INVALID: {
    meaning: 'A client resumed with a cursor that this service never issued.',
    remedy: 'Send the cursor of the last message unchanged, or no cursor.',
  },
  CURSOR_TOO_OLD: {
    meaning: 'A client resumed with a cursor whose position in the feed is no longer stored.',
    remedy: 'Read the present state, and continue without a cursor.',
  },

  // Processes
  PORT_UNAVAILABLE: {
    meaning: 'An address or port to listen on is taken or not allowed.',
    remedy: {
      standalone: 'Choose another port (`--port`, `--state-port`), or stop the process that holds it.',
      appliance: 'Choose another port (HTTP_PORT, HTTPS_PORT in `.env`), or stop the process that holds it.',
      process: 'Choose another port (`server_port`, `metrics_port`), or stop the process that holds it.',
    },
  },
  HASURA_UNAVAILABLE: {
    meaning: 'Hasura does not answer.',
    remedy: {
      standalone: 'Look at the log of Hasura; it needs its own database and that of the chain.',
      appliance: 'Look at `docker compose logs hasura`; it needs its own database and that of the chain.',
      process: 'Look at the log of Hasura; it needs its own database and that of the chain.',
    },
  },
  HASURA_REFUSED: {
    meaning: 'Hasura refuses the metadata of this version.',
    remedy:
      'The message contains the reason that Hasura gives. Report it with the version of Hasura; 2.45 is tested.',
  },
  UNHEALTHY: {
    meaning: 'A check failed, or a requested address did not answer with a success status.',
    remedy: {
      standalone: 'Read what `npm start` printed last.',
      appliance:
        'Look at `docker compose ps`, and at the log of a service with `docker compose logs SERVICE`.',
      process: 'Read the log of the process that failed: filler, api or state service.',
    },
  },
  SERVICE_REFUSED: {
    meaning: 'The requested address refuses connections: nothing listens there.',
    remedy: {
      standalone: 'Start it with `npm start`, or give one of the addresses that it printed.',
      appliance:
        'Start the containers with `docker compose up -d --wait`, or give the address of HTTP_PORT or HTTPS_PORT in `.env`; `docker compose ps` shows what runs.',
      process:
        'Start the process (`pronghorn api`, `pronghorn filler`, `pronghorn state`), or give the address and port of its configuration.',
    },
  },
  RECORDING_INVALID: {
    meaning: 'A bundled recording of a chain is damaged.',
    remedy: {
      standalone:
        'Restore the recordings with `git checkout services/devchain/recordings`, then `npm start`.',
      appliance:
        'Build or pull the image again: `docker compose build config`, or `docker compose pull config`.',
      process:
        'Restore the recordings with `git checkout services/devchain/recordings`, then `npm run build`.',
    },
  },
  INVALID_REQUEST: {
    meaning: 'A request has an invalid parameter, or names something that does not exist.',
    remedy: 'Correct the parameter that the message names.',
  },
  INTERNAL: {
    meaning: 'Something happened that the program does not expect.',
    remedy: 'Report it with the whole message.',
  },
} as const satisfies Record<string, ErrorEntry>

/** An error code of the catalogue. */
export type ErrorCode = keyof typeof errorCatalogue
