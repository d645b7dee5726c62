import type { VerifiedTable } from './table.ts'
import { byName, freeText, freeTextColumn, id, int, plain, text } from './values.ts'

const shares = (value: unknown) =>
  (value as { recipient: string; weight: unknown }[]).map(({ recipient, weight }) => ({
    recipient,
    weight: int(weight),
  }))

/** A value of an attribute rule: 64-bit integers as text, all else as JSON has it. */
const variant = (value: unknown) => {
  const [type, inner] = value as [string, unknown]
  return [type, plainValue(inner)]
}

function plainValue(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  return ArrayBuffer.isView(value) ? Array.from(value as Uint8Array) : value
}

/** Tables of the market contract that say how collections split their fee (contract v2). */
export const royaltyTables: readonly VerifiedTable[] = [
  {
    name: 'market.royalty_configs',
    family: 'market',
    contractTable: 'royaltyconf',
    key: [{ name: 'collection_name', type: 'text' }],
    from: 'market.royalty_configs t',
    collection: 'collection_name',
    columns: [
      plain('founders', 'jsonb'),
      plain('attribute_mode', 'smallint'),
      plain('split_founders', 'bigint'),
      plain('split_templates', 'bigint'),
      plain('split_attributes', 'bigint'),
    ],
    expect: ({ data }) => ({
      key: [text(data.collection)],
      values: {
        founders: shares(data.founders),
        attribute_mode: int(data.attribute_mode),
        split_founders: int(data.split_founders),
        split_templates: int(data.split_templates),
        split_attributes: int(data.split_attributes),
      },
    }),
    locate: byName,
  },
  {
    name: 'market.royalty_templates',
    family: 'market',
    contractTable: 'royaltytemp',
    key: [
      { name: 'collection_name', type: 'text' },
      { name: 'template_id', type: 'integer' },
    ],
    from: 'market.royalty_templates t',
    collection: 'collection_name',
    scopedByCollection: true,
    columns: [plain('recipients', 'jsonb')],
    expect: ({ scope, data }) => ({
      key: [scope, id(data.template_id)],
      values: { recipients: shares(data.recipients) },
    }),
    // The contract widens the id as an unsigned 32-bit integer.
    locate: ([collection, template]) => ({
      scope: collection!,
      primary: BigInt.asUintN(32, BigInt(template!)),
    }),
  },
  {
    name: 'market.royalty_attributes',
    family: 'market',
    contractTable: 'royaltyattr',
    key: [
      { name: 'collection_name', type: 'text' },
      { name: 'rule_id', type: 'bigint' },
    ],
    from: 'market.royalty_attributes t',
    collection: 'collection_name',
    scopedByCollection: true,
    columns: [
      plain('source', 'smallint'),
      freeTextColumn('field'),
      plain('value', 'jsonb'),
      plain('weight', 'bigint'),
      plain('recipients', 'jsonb'),
      {
        name: 'lookup_hash',
        sql: "encode(t.lookup_hash, 'hex')",
        type: 'text',
        write: "decode($, 'hex')",
      },
    ],
    expect: ({ scope, data }) => ({
      key: [scope, id(data.index)],
      values: {
        source: int(data.source),
        field: freeText(data.field),
        value: variant(data.value),
        weight: int(data.weight),
        recipients: shares(data.recipients),
        lookup_hash: text(data.lookup_hash).toLowerCase(),
      },
    }),
    locate: ([collection, rule]) => ({ scope: collection!, primary: BigInt(rule!) }),
  },
]
