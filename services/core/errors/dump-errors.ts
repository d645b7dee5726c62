import type { ErrorEntry } from './entry.ts'
import { fillerCommand } from './filler-command.ts'

/** Errors of published dumps. */
export const dumpErrors = {
  PUBLISH_FAILED: {
    meaning: 'A publication could not be written. The folder still contains the previous publication.',
    remedy:
      'Correct the cause that the message names, and start the same command again. If another publication of the database is running, wait until it ends.',
  },
  DUMP_UNREACHABLE: {
    meaning:
      'Several attempts to read a file of a dump failed: no answer, a status other than 200, or a broken connection.',
    remedy:
      'Start the same command again: the restore continues. If the publisher has removed the file, `--anew` starts over with the current publication.',
  },
  DUMP_DAMAGED: {
    meaning:
      "The size, the SHA-256, the rows or the seals of a dump file differ from the manifest. None of the file's rows is in a table.",
    remedy:
      'Start the same command again: the restore continues with this file. If the error repeats, tell the publisher the name of the file: `publish --check` reads all published files, and writes damaged files again.',
  },
  DUMP_UNTRUSTED: {
    meaning: 'The signature of a dump is missing, or does not match the given public key.',
    remedy:
      'Nothing was restored. Ask the publisher for the right key. Without `--key` a restore does not check the signature, and trusts the server of the dump.',
  },
  DUMP_UNFIT: {
    meaning: 'A manifest is malformed, or the dump has a format that this version does not read.',
    remedy:
      'Nothing was restored. Check the address: the folder must contain the file manifest.json. Files that end in .zst need Node.js 22.15 or later.',
  },
  RESTORE_TARGET_FILLED: {
    meaning: 'The target database of a restore has data, or other programs are using it.',
    remedy: {
      standalone:
        'Nothing was changed. Name an empty database in a configuration (`--config`), and stop the programs that use it.',
      appliance:
        'Nothing was changed. Stop the services that use the database (`docker compose stop filler api state`), or restore into a new database (POSTGRES_DATABASE in `.env`).',
      process:
        'Nothing was changed. Stop the programs that use the database, or restore into a new database (`sqldb.database`, POSTGRES_DATABASE).',
    },
  },
  RESTORE_UNFINISHED: {
    meaning:
      'A restore into this database was interrupted or is still running. No service uses the database before the restore is complete.',
    remedy: {
      standalone: 'Start the same restore again; it continues where it stopped.',
      appliance: `Start the same restore again (\`${fillerCommand('restore URL')}\`); it continues where it stopped. \`--anew\` starts over.`,
      process: 'Run the same `pronghorn restore` again; it continues where it stopped. `--anew` starts over.',
    },
  },
} as const satisfies Record<string, ErrorEntry>
