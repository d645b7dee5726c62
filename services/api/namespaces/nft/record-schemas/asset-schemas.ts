import type { Members } from '../../../endpoint/index.ts'
import { shape } from '../../../endpoint/index.ts'
import { lightCollection, lightSchema, lightTemplate, shownName } from './entity-schemas.ts'

const backedToken = shape.record('BackedToken', 'Tokens locked in an asset', {
  token_contract: shape.text('Account of the token contract'),
  token_symbol: shape.text('Symbol code'),
  token_precision: shape.integer('Decimal places'),
  amount: shape.integer(
    'Amount in units of the smallest decimal place, with all digits: above 2^53 more than a double holds',
  ),
})

const times: Members = {
  burned_by_account: shape.nullable(shape.text('Account that burned it')),
  burned_at_block: shape.nullable(shape.decimal('Block of the burn')),
  burned_at_time: shape.nullable(shape.time('Time of the burn')),
  updated_at_block: shape.ofHistory(shape.decimal('Block of the last mint, transfer, data change or burn')),
  updated_at_time: shape.ofHistory(shape.time('Time of the last mint, transfer, data change or burn')),
  transferred_at_block: shape.ofHistory(shape.decimal('Block of the last transfer or the mint')),
  transferred_at_time: shape.ofHistory(shape.time('Time of the last transfer or the mint')),
  minted_at_block: shape.ofHistory(shape.decimal('Block of the mint')),
  minted_at_time: shape.ofHistory(shape.time('Time of the mint')),
}

/** An asset. */
export const assetRecord = shape.record('Asset', 'An asset', {
  contract: shape.text('Account of the contract'),
  asset_id: shape.decimal('Asset'),
  owner: shape.nullable(shape.text('Owner; null when burned')),
  is_transferable: shape.flag('The template is transferable, or there is none'),
  is_burnable: shape.flag('The template is burnable, or there is none'),
  collection: lightCollection,
  schema: lightSchema,
  template: shape.nullable(lightTemplate),
  mutable_data: shape.attributes('Own attributes that may change'),
  immutable_data: shape.attributes('Own attributes that never change'),
  template_mint: shape.ofHistory(
    shape.decimal('Mint number within the template, from 1; 0 without a template'),
  ),
  backed_tokens: shape.list(backedToken, 'Tokens locked in it'),
  ...times,
  original_mint: shape.nullable(shape.decimal('Mint number of the asset that it was bridged from')),
  data: shape.attributes(
    'All attributes: mutable data of the template, mutable and immutable data of the asset, immutable data of the ' +
      'template; later ones overlay earlier ones',
  ),
  'name?': shownName,
})
