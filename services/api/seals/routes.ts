import type { Context } from 'koa'
import { RequestError, sendJson } from '../../core/http/index.ts'
import {
  findKind,
  MOST_SEALS,
  partsStatement,
  sealsStatement,
  summaryStatement,
} from '../../core/seals/published/index.ts'
import type { JsonStatement } from '../../core/seals/published/index.ts'
import type { SealedKind } from '../../core/seals/index.ts'
import type { RequestDatabase } from '../database/index.ts'
import { shape } from '../endpoint/index.ts'
import { successBody } from '../http/index.ts'
import type { RootRoute } from '../http/index.ts'

/** Cache lifetime of an answer, seconds. New seals are rare: 10,000 blocks take 83 minutes. */
const CACHE_SECONDS = 60
const LAST_BLOCK = 2_147_483_647
/** Maximum number of blocks in a request for rows. A sealed range has 10,000 blocks. */
const MOST_BLOCKS = 1_000_000

const { choice, decimal, integer, list, nullable, object, text } = shape

const summary = object({
  chain_id: text('Id of the chain'),
  sealed_to: integer('Last block up to which every kind of row is sealed; -1 if a kind has no seal yet'),
  rows: decimal('Number of sealed rows up to block `sealed_to`'),
  digest: text('SHA-256 of the seals up to block `sealed_to`'),
  kinds: list(
    object({
      kind: text('Kind of row'),
      range_blocks: integer('Blocks in a range'),
      sealed_to: integer('Last sealed block'),
      reason: nullable(
        text(
          'Reason why the kind was sealed again from the first block on; null if the kind was sealed only once',
        ),
      ),
    }),
    'Every kind of row',
  ),
})

const range = {
  first_block: integer('First block'),
  last_block: integer('Last block'),
  rows: decimal('Number of rows'),
  digest: text('SHA-256 of the rows'),
}
const seals = list(
  object({ ...range, origin: choice('Where the rows come from', ['indexed', 'imported']) }),
  `At most ${MOST_SEALS} seals`,
)

const parts = object({
  rows: decimal('Number of rows in the requested blocks'),
  parts: list(
    object(range),
    'The requested blocks, divided into at most 100 parts in ascending order, each part with the digest of its rows; parts without rows are left out',
  ),
  lines: nullable(
    list(
      text('Text of a row, of which the seal contains a hash (`line` in docs/seals.md)'),
      'Up to 100 rows, each as one line of text; null if the request covers several blocks that have more than 100 rows together',
    ),
  ),
})

/** Creates the routes `/seals`, `/seals/ranges` and `/seals/rows`. */
export function sealRoutes(database: RequestDatabase, chainId: string): RootRoute[] {
  const read = async ({ text: statement, values }: JsonStatement): Promise<string> =>
    database.run(async (session) => {
      // The number of float digits is set for each session, because the default of a database may be different.
      await session.query({ text: "SELECT set_config('extra_float_digits', '1', false)", values: [] })
      const rows = await session.query<[string]>({ text: statement, values: [...values] })
      return rows[0]![0]
    })
  const summaryText = cachedText(async () => {
    const found = await read(summaryStatement())
    return JSON.stringify({ chain_id: chainId, ...(JSON.parse(found) as object) })
  })
  const send = (context: Context, json: string) => {
    context.set('Cache-Control', `public, max-age=${CACHE_SECONDS}`)
    sendJson(context, 200, successBody(json, Date.now()))
  }
  return [
    {
      paths: ['/seals'],
      documentation: {
        summary: 'Seals of the history: digest of the seals, and the last sealed block of each kind of row',
        record: summary,
      },
      isLimited: true,
      answer: async (context) => send(context, await summaryText()),
    },
    {
      paths: ['/seals/ranges'],
      documentation: {
        summary: 'Seals of the kind of row `kind` whose range contains a block from `from` to `to`',
        record: seals,
        refusal: 'A parameter is wrong',
      },
      isLimited: true,
      answer: async (context) => {
        const kind = kindOf(context)
        const from = blockOf(context, 'from', 0)
        const to = blockOf(context, 'to', LAST_BLOCK)
        send(context, await read(sealsStatement(kind, { from, to })))
      },
    },
    {
      paths: ['/seals/rows'],
      documentation: {
        summary:
          'Rows of the blocks `from` to `to`, with their digests, in the sealed range of `kind` that begins at block `range`; the first `offset` rows are skipped',
        record: parts,
        refusal: 'A parameter is wrong',
      },
      isLimited: true,
      answer: async (context) => {
        const kind = kindOf(context)
        const range = blockOf(context, 'range', 0)
        const from = blockOf(context, 'from', range)
        const to = blockOf(context, 'to', from)
        if (to < from || to - from >= MOST_BLOCKS)
          throw new RequestError(
            400,
            `to: must be at least \`from\`; one request covers at most ${MOST_BLOCKS} blocks`,
          )
        const offset = blockOf(context, 'offset', 0)
        send(context, await read(partsStatement(kind, { range, from, to, offset })))
      },
    },
  ]
}

/** Caches a text for CACHE_SECONDS. All requests share the cached text. */
function cachedText(read: () => Promise<string>): () => Promise<string> {
  let known: { readonly text: Promise<string>; readonly untilMs: number } | undefined
  return () => {
    if (known === undefined || performance.now() > known.untilMs) {
      const text = read()
      known = { text, untilMs: performance.now() + CACHE_SECONDS * 1_000 }
      text.catch(() => (known = undefined))
    }
    return known.text
  }
}

const valueOf = (context: Context, name: string) => new URLSearchParams(context.querystring).get(name)

function kindOf(context: Context): SealedKind {
  const kind = findKind(valueOf(context, 'kind') ?? '')
  if (kind === undefined) throw new RequestError(400, 'kind: must be a sealed kind of row')
  return kind
}

function blockOf(context: Context, name: string, absent: number): number {
  const value = valueOf(context, name)
  if (value === null) return absent
  if (!/^\d{1,10}$/.test(value) || Number(value) > LAST_BLOCK)
    throw new RequestError(400, `${name}: must be a whole number up to ${LAST_BLOCK}`)
  return Number(value)
}
