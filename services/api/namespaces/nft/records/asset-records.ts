import type { Json } from '../../../json/index.ts'
import type {
  Assembler,
  FoundFragments,
  Fragments,
  PageTexts,
  PendingRecords,
  Selection,
  WantedFragments,
} from '../../../records/index.ts'
import { wantedTogether } from '../../../records/index.ts'
import { assetMembers } from './asset-json.ts'
import type { AssetRow, ReadAssets } from './asset-rows.ts'
import { measureAssets } from './record-sizes.ts'
import {
  ASSET_COLUMN_COUNT,
  fragmentsOf,
  oneAsset,
  readAssets,
  readOneAsset,
  selectAssets,
} from './asset-rows.ts'

/** Dependencies of the records of a namespace. */
export interface RecordSource {
  /** Contract account of the assets; an account name, so it needs no escaping in JSON. */
  readonly contract: string
  readonly shared: Fragments
}

/** Further members of assets, from columns and fragments of their own. */
export interface AssetExtension {
  /** It may read the WITH item `a`, the rows of the assets. */
  readonly select: () => Selection
  readonly columnCount: number
  /** Reads its columns. */
  readonly read: (texts: PageTexts) => PendingMembers
}

/** Members of assets, until the fragments are there. */
export interface PendingMembers {
  readonly versions: WantedFragments
  /** @returns the members of an asset. */
  readonly membersOf: (found: FoundFragments) => (row: AssetRow) => string
}

/** Assembles assets, with what a namespace adds to them. */
export function assetAssembler(
  source: Pick<RecordSource, 'contract'>,
  extension?: AssetExtension,
): Assembler {
  const assembler: Assembler = {
    keyType: 'bigint',
    columnCount: ASSET_COLUMN_COUNT + (extension?.columnCount ?? 0),
    select(keys) {
      const own = selectAssets(keys)
      if (!extension) return own
      const more = extension.select()
      return { ...own, ctes: [...own.ctes, ...more.ctes], columns: [...own.columns, ...more.columns] }
    },
    measure: measureAssets,
    read: (texts) =>
      pendingAssets(source, readAssets(texts), extension?.read(texts.slice(ASSET_COLUMN_COUNT))),
  }
  if (extension) return assembler
  return {
    ...assembler,
    one: { statement: oneAsset, read: (text) => pendingAssets(source, readOneAsset(text)) },
  }
}

function pendingAssets(
  { contract }: Pick<RecordSource, 'contract'>,
  { rows, versions, backedTokens }: ReadAssets,
  members?: PendingMembers,
): PendingRecords {
  return {
    versions: members ? wantedTogether(versions, members.versions) : versions,
    assemble(found) {
      const membersOf = members?.membersOf(found)
      const records = new Map<string, Json>()
      for (const row of rows) {
        const fragments = fragmentsOf(row, found)
        // Gone between two statements: a fork has just undone it.
        if (!fragments) continue
        const record = assetMembers(contract, row, backedTokens.get(row[0]) ?? '[]', fragments)
        record.push(membersOf ? `,${membersOf(row)}}` : '}')
        records.set(row[0], record)
      }
      return records
    },
  }
}
