/** Loads the tests' dump of a source database without psql. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { gunzipSync } from 'node:zlib'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { packageRoot } from '../../services/core/paths/index.ts'

const dumps = join(packageRoot, 'tests/fixtures/old-database')

/**
 * Restores a dump. `main-740`: filled by eosio-contract-api from blocks 1 to 740 of the recording `main`. `v2-964`:
 * schema and rows of its successor 2.x, from blocks 1 to 964 of the recordings `main` and `v2`.
 */
export async function restoreOldDump(
  client: pg.Client,
  dump: 'main-740' | 'v2-964' = 'main-740',
): Promise<void> {
  const text = gunzipSync(readFileSync(join(dumps, `${dump}.sql.gz`))).toString('utf8')
  for (const part of splitDump(text)) {
    if (part.rows === null) await client.query(part.statement)
    else await pipeline([part.rows], client.query(copyFrom(part.statement)))
  }
  await client.query('RESET ALL')
}

interface DumpPart {
  readonly statement: string
  readonly rows: string | null
}

function* splitDump(text: string): Generator<DumpPart> {
  let at = 0
  for (const match of text.matchAll(/^COPY .* FROM stdin;\n/gm)) {
    if (match.index < at) continue
    yield { statement: withoutMeta(text.slice(at, match.index)), rows: null }
    const start = match.index + match[0].length
    const end = text.startsWith('\\.\n', start) ? start : text.indexOf('\n\\.\n', start) + 1
    yield { statement: match[0].replace(/;\n$/, ''), rows: text.slice(start, end) }
    at = end + 3
  }
  yield { statement: withoutMeta(text.slice(at)), rows: null }
}

/** The SQL of the dump without psql's meta-commands. */
function withoutMeta(sql: string): string {
  return sql.replace(/^\\.*$/gm, '')
}
