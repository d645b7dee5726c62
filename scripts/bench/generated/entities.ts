import { nameToInt64 } from '../../../services/core/antelope/index.ts'
import { connectDatabase } from '../../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../../services/core/database/index.ts'
import type { Catalogue, Template } from './catalogue.ts'
import { SCHEMA_FORMAT } from './catalogue.ts'
import type { ChainClock } from './chain-clock.ts'
import { blockTime } from './chain-clock.ts'
import type { Random } from './choice.ts'
import { CopySink } from './copy-sink.ts'
import type { RowSink } from './copy-sink.ts'
import { accountName, contractCount, hasCode, word } from './names.ts'
import type { GeneratedSizes } from './sizes.ts'

/** Codes of `assets.log_actions`. */
const codes = { createCollection: 20, createSchema: 40, newTemplate: 50, setMarketFee: 27 } as const

/** Contract account of the generated rows. */
const CONTRACT = 'atomicassets'
const CHAIN_ID = '1064487b3cd1a897ce03ae5b6a865651747e2e152090f99c1d19d44e01aea5a4'

/** Writes the identity of the chain, the configuration of the assets contract, and the accounts that have code. */
export async function writeSettings(address: DatabaseAddress): Promise<void> {
  const client = await connectDatabase(address, { applicationName: 'generate' })
  try {
    await client.query(`
      INSERT INTO chain.identity VALUES ('${CHAIN_ID}');
      INSERT INTO chain.sources VALUES ('assets', '${CONTRACT}', 'generated');
      INSERT INTO assets.config (contract, standard, version, v2_since_block, collection_format)
        VALUES ('${CONTRACT}', 'atomicassets', '2.0.0', 1, '[{"name":"name","type":"string"},{"name":"img","type":"ipfs"}]');
      INSERT INTO assets.tokens VALUES ('WAX', 8, 'eosio.token')`)
    for (let index = 0; hasCode(index); index++) {
      await client.query("INSERT INTO chain.code_accounts VALUES ($1, 1, 'generated')", [accountName(index)])
    }
  } finally {
    await client.end()
  }
}

/** Chain id of generated databases. */
export const generatedChainId = CHAIN_ID

/** Inputs of the rows of generated collections, schemas and templates. */
export interface CatalogueSource {
  readonly sizes: GeneratedSizes
  readonly clock: ChainClock
  readonly logs: RowSink
  readonly random: Random
}

/**
 * Writes collections, schemas and templates, and the logs of their creation. Needs the final supply of the templates.
 */
export async function writeCatalogue(
  address: DatabaseAddress,
  { collections, templates }: Catalogue,
  { sizes, clock, logs, random }: CatalogueSource,
): Promise<(supply: Int32Array) => Promise<void>> {
  const rows = await CopySink.open(address, 'assets.collections', [
    'collection_name, created_at_time, market_fee, created_at_block, allow_notify, author, authorized_accounts, notify_accounts, data',
  ])
  const schemaRows = await CopySink.open(address, 'assets.schemas', [
    'collection_name, schema_name, created_at_time, created_at_block, format',
  ])
  for (const { name, author, fee, minters, schemas } of collections) {
    const friends = Array.from({ length: random.below(3) }, () =>
      accountName(contractCount + random.below(sizes.accounts - contractCount)),
    )
    const notified = random.chance(0.3) ? ['atomicmarket', ...friends] : []
    const data = {
      name: `${word(random.below(900))} ${word(random.below(900))}`,
      img: `Qm${'y'.repeat(44)}`,
      url: `https://${name}.example`,
    }
    const subject = nameToInt64(name)
    const created = JSON.stringify({
      author,
      allow_notify: true,
      authorized_accounts: [author],
      notify_accounts: [],
      market_fee: fee,
      data: [],
    })
    logs.add([clock.next(), subject, codes.createCollection, created, null])
    rows.add([
      name,
      blockTime(clock.block),
      fee,
      clock.block,
      true,
      author,
      `{${[...new Set([...minters, ...friends])].join(',')}}`,
      `{${notified.join(',')}}`,
      JSON.stringify(data),
    ])
    for (let i = random.below(20); i > 0; i--) {
      logs.add([clock.next(), subject, codes.setMarketFee, JSON.stringify({ market_fee: fee }), null])
    }
    for (const schema of schemas) {
      const made = { schema_name: schema.name, authorized_creator: author, schema_format: [] }
      logs.add([clock.next(), subject, codes.createSchema, JSON.stringify(made), null])
      schemaRows.add([name, schema.name, blockTime(clock.block), clock.block, SCHEMA_FORMAT])
    }
  }
  await rows.close()
  await schemaRows.close()
  const blocks = templates.map(({ id, collection }) => {
    const made = { authorized_creator: collections[collection]!.author, max_supply: 0 }
    logs.add([clock.next(), id, codes.newTemplate, JSON.stringify(made), null])
    return clock.block
  })
  return (supply) => writeTemplates(address, { collections, templates }, blocks, supply)
}

async function writeTemplates(
  address: DatabaseAddress,
  { collections, templates }: Pick<Catalogue, 'collections' | 'templates'>,
  blocks: readonly number[],
  supply: Int32Array,
): Promise<void> {
  const rows = await CopySink.open(address, 'assets.templates', [
    'template_id, created_at_block, created_at_time, deleted_at_time, max_supply, issued_supply, deleted_at_block, transferable, burnable, collection_name, schema_name, immutable_data, mutable_data',
  ])
  for (const template of templates) {
    const block = blocks[template.id - 1]!
    const issued = supply[template.id]!
    rows.add([
      template.id,
      block,
      blockTime(block),
      template.isDeleted ? blockTime(block + 1_000) : null,
      maxSupply(template, issued),
      issued,
      template.isDeleted ? block + 1_000 : null,
      template.transferable,
      template.burnable,
      collections[template.collection]!.name,
      template.schema.name,
      template.immutable,
      template.mutable,
    ])
  }
  await rows.close()
}

/** Maximum number of assets of a template; 0 if the number is unlimited. */
function maxSupply({ id, isUnique }: Template, issued: number): number {
  if (isUnique) return 1
  return id % 3 === 0 ? issued : 0
}
