import { expect, it } from 'vitest'
import { compileAbi } from '../../services/core/antelope/decoder/index.ts'
import { packAbi } from '../../services/core/antelope/abi/index.ts'
import { assetsContract, readColumns } from '../../services/core/model/contract/index.ts'
import { createHandler } from '../../services/filler/handlers/index.ts'
import type { Handler } from '../../services/filler/handlers/index.ts'
import { entityTables } from '../../services/filler/import/state/entity-rows.ts'
import { ContractDecoder } from '../../services/filler/pipeline/index.ts'
import { CommitUnit } from '../../services/filler/store/index.ts'
import { openOwnDecoder, openRowDecoder } from '../../services/verify/decode/row-decoder.ts'
import { verifiedTables } from '../../services/verify/tables/index.ts'
import { readAbi } from '../decode/recordings.ts'
import { assetsCases } from './assets-cases.ts'
import { marketCases } from './market-cases.ts'
import { otherCases } from './other-cases.ts'
import { block, collectionFormat, schemaFormat } from './row-case.ts'
import type { RowCase } from './row-case.ts'

/**
 * Rows of every contract. The fields of a row have different values, so that exchanging two fields changes the result.
 */
const cases = [...assetsCases, ...marketCases, ...otherCases]
const abis = {
  assets: readAbi('assets.v2'),
  market: readAbi('market.v2'),
  oracle: readAbi('oracle'),
  tools: readAbi('tools'),
}
const entries = [
  { handler: 'assets', args: { assets_account: 'assets', store_logs: true, store_transfers: true } },
  { handler: 'oracle', args: { oracle_account: 'oracle' } },
  { handler: 'market', args: { market_account: 'market', store_logs: true } },
  { handler: 'tools', args: { tools_account: 'tools', store_logs: true } },
]
const states: Readonly<Record<RowCase['family'], unknown>> = {
  assets: { known: false, collectionFormat, version: null, v2SinceBlock: null, tokens: new Map() },
  market: { v2SinceBlock: null, tokens: [], symbolPairs: [] },
  oracle: { rings: new Map(), precisions: new Map([['waxpusd', 4]]) },
  tools: null,
}
const formats = { collectionFormat, formatOf: () => schemaFormat }

function handlerOf({ family }: RowCase): Handler {
  return createHandler(
    entries.find(({ handler }) => handler === family)!,
    entries,
  )!
}

function pack({ family, table, row }: RowCase): Uint8Array {
  const abi = abis[family]
  return compileAbi(abi).encoder(abi.tables.find(({ name }) => name === table)!.type)(row)
}

function decoderOf({ family }: RowCase, handler?: Handler): ContractDecoder {
  const every = Object.fromEntries(
    abis[family].tables.map(({ name }) => [name, { fields: null, wide: null }]),
  )
  const decoder = new ContractDecoder(family, handler?.actions ?? {}, handler?.rows ?? every)
  expect(decoder.setAbi(packAbi(abis[family]))).toBeNull()
  return decoder
}

/** Returns the rows of a commit unit by table, including rows that only feed counters. */
function rowsOf(unit: CommitUnit): Record<string, unknown[]> {
  return Object.fromEntries(
    [...unit.tables.values()].map(({ table, rows, groups }) => [
      table.name,
      [
        ...Array.from(rows.values(), ({ row }) => row),
        ...[...groups.values()].flatMap((group) => group.rows),
      ],
    ]),
  )
}

/** Returns the rows that the handler writes for the actions and the row of a case, in one block. */
function handle(of: RowCase, at: typeof block): Record<string, unknown[]> {
  const handler = handlerOf(of)
  const unit = new CommitUnit(false)
  const decoder = decoderOf(of, handler)
  const scope = handler.open(at, states[of.family], unit, (message) => expect.unreachable(message))
  of.actions?.forEach(([name, data], place) => {
    const packed = compileAbi(abis[of.family]).encoder(name)(data)
    scope.action({
      seq: BigInt(place + 1),
      txIndex: 0,
      txid: Buffer.alloc(32),
      ordinal: place + 1,
      creatorOrdinal: 0,
      name,
      data: decoder.decodeAction(name, packed, 0, packed.length),
      packed,
      actors: () => ['actor1'],
    })
  })
  const bytes = pack(of)
  if (of.table in handler.rows)
    scope.row({
      table: of.table,
      present: true,
      scope: () => of.scope ?? of.family,
      primaryKey: () => of.primary ?? 0n,
      value: () => decoder.decodeRow(of.table, bytes, 0, bytes.length),
    })
  scope.end()
  return rowsOf(unit)
}

function importRow(of: RowCase): Record<string, unknown[]> {
  const { family, table, scope = family } = of
  const entity = entityTables.find((known) => known.family === family && known.contractTable === table)
  const bytes = pack(of)
  const data = decoderOf(of).decodeRow(table, bytes, 0, bytes.length) as Record<string, unknown>
  const from = { scope, data, formats }
  if (table === 'templates2') {
    const { template_id, mutable_data } = readColumns(assetsContract.templates2, from)
    return { 'assets.templates': [{ template_id, mutable_data }] }
  }
  if (entity === undefined) return handle(of, { num: 0, timeMs: 0 })
  const unit = new CommitUnit(false)
  const row = entity.rows.rowOf(from)
  unit.insert(entity.table, row)
  entity.rows.complete?.(row, unit, from)
  return rowsOf(unit)
}

it('every contract table that verify compares has a test case', () => {
  expect(cases.map(({ family, table }) => `${family} ${table}`).sort()).toEqual(
    verifiedTables.map(({ family, contractTable }) => `${family} ${contractTable}`).sort(),
  )
})

const named = cases.map((of) => [`${of.family} ${of.table}`, of] as const)

it.each(named)('a handler writes the rows of %s', (_, of) => {
  const written = handle(of, block)
  for (const [table, rows] of Object.entries(of.handled)) expect(written[table]).toEqual(rows)
})

it.each(named)('import-state writes the rows of %s', (_, of) => {
  const written = importRow(of)
  for (const [table, rows] of Object.entries(of.imported ?? of.handled)) expect(written[table]).toEqual(rows)
})

it.each(named)('verify expects the row of %s with either decoder', (_, of) => {
  const { family, table, scope = family } = of
  const known = verifiedTables.find((each) => each.family === family && each.contractTable === table)!
  for (const decoder of [openRowDecoder(), openOwnDecoder()]) {
    decoder.load(family, abis[family])
    const data = decoder.decode(family, table, pack(of))
    expect(known.expect({ scope, data }, formats)).toEqual(of.verified)
  }
})
