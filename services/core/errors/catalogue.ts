import { chainErrors } from './chain-errors.ts'
import { databaseErrors } from './database-errors.ts'
import { dumpErrors } from './dump-errors.ts'
import type { ErrorEntry } from './entry.ts'
import { readerErrors } from './reader-errors.ts'

/**
 * Every error code of the program. `docs/errors.md` is generated from this table, and an unknown code does not compile.
 * Each area has a file of its own. Append a new code to the file of its area.
 */
export const errorCatalogue = {
  // Errors of the configuration and the command line
  CONFIG_INVALID: {
    meaning: 'One or more settings are missing, malformed, or contradict one another.',
    remedy: {
      standalone: 'Correct the options that the message names; `npm start -- --help` explains each option.',
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
    meaning: 'A command that needs the folders of the containers was started outside the containers.',
    remedy: {
      standalone:
        'Name the folder with the output of render-config: `--rendered FOLDER`. `npm start` needs no such folder.',
      appliance:
        'Start the command in a container, which has these folders: `docker compose run --rm` (docs/operate.md).',
      process:
        'Name the folder with the output of `pronghorn render-config`: `--rendered FOLDER`. Processes without containers need no such folder (docs/without-containers.md).',
    },
  },
  INSTALLATION_BROKEN: {
    meaning: 'A file that belongs to the program is missing or unreadable.',
    remedy: {
      standalone:
        'Restore the files of the program: `git checkout .` in its repository, then `npm ci` and `npm start`.',
      appliance:
        'Build or pull the image again: `docker compose build config`, or `docker compose pull config`.',
      process:
        'Restore the files of the program: `git checkout .` in its repository, then `npm ci && npm run build`.',
    },
  },
  NODEJS_TOO_OLD: {
    meaning: 'The version of Node.js is older than the program requires.',
    remedy: {
      standalone: 'Install Node.js 24 (https://nodejs.org), then `npm ci` and `npm start`.',
      appliance:
        'Start the containers with `docker compose up -d --wait`: the image contains its own Node.js.',
      process: 'Install Node.js 24 (https://nodejs.org), then `npm ci && npm run build`.',
    },
  },

  ...chainErrors,
  ...readerErrors,
  ...databaseErrors,
  ...dumpErrors,

  // Errors of the live data: feed, bus and cursors
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
    remedy: 'Read the current state over REST, then subscribe again without a cursor.',
  },

  // Errors of the running processes: ports, health and requests
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
      standalone:
        'Look at the log of Hasura. Hasura needs a database of its own and access to the database of the chain.',
      appliance:
        'Look at `docker compose logs hasura`. Hasura needs a database of its own and access to the database of the chain.',
      process:
        'Look at the log of Hasura. Hasura needs a database of its own and access to the database of the chain.',
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
      standalone: 'Read the last messages of `npm start`.',
      appliance:
        'Look at `docker compose ps`, and at the log of a service with `docker compose logs SERVICE`.',
      process: 'Read the log of the process that failed: filler, api or state service.',
    },
  },
  SERVICE_REFUSED: {
    meaning: 'The requested address refuses connections, because no process listens on it.',
    remedy: {
      standalone:
        'Start the program with `npm start`, or give one of the addresses that `npm start` printed.',
      appliance:
        'Start the containers with `docker compose up -d --wait`, or give the address of HTTP_PORT or HTTPS_PORT in `.env`; `docker compose ps` lists the running containers.',
      process:
        'Start the process (`pronghorn api`, `pronghorn filler`, `pronghorn state`), or give the address and port on which the process listens.',
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
    meaning: 'An unexpected error occurred inside the program.',
    remedy: 'Report the error with the whole message.',
  },
} as const satisfies Record<string, ErrorEntry>

export type ErrorCode = keyof typeof errorCatalogue
