import { flag, ids, int, name, names } from '../../../../core/parameters/index.ts'
import type { Values } from '../../../../core/endpoint/index.ts'
import { assetFilter, assetNameSearch, collectionLists, hideOffers } from './parameter-groups.ts'
import { counting, paging, sorting, idBoundaries } from '../paging/index.ts'

const mint = { minimum: 1 } as const

/** Parameters of the list of assets. @param further additional sorts. */
export function assetListParameters(limit: number, further: readonly string[] = []) {
  return {
    ...paging(limit),
    ...sorting(
      ['asset_id', 'minted', 'updated', 'transferred', 'template_mint', 'name', 'original_mint', ...further],
      true,
    ),
    ...counting,
    ...assetFilter,
    ...assetNameSearch,
    ...collectionLists,
    ...hideOffers,
    ...idBoundaries('asset_id', true),
    authorized_account: name('Assets of collections that list this account as authorized.'),
    template_whitelist: ids('Only these templates.'),
    template_blacklist: ids('Not these templates; assets without a template stay.'),
    hide_templates_by_accounts: names('Leave out templates of which one of these accounts owns an asset.'),
    only_duplicate_templates: flag('Only assets whose owner has an older one of the same template.'),
    has_backed_tokens: flag('With, or without, backed tokens.'),
    has_template_buyoffer: flag('With, or without, a buy offer for the template.'),
    template_mint: int('Mint number.', mint),
    min_template_mint: int('Mint number is at least this.', mint),
    max_template_mint: int('Mint number is at most this; assets without a template stay.', mint),
    original_mint: int('Mint number of the asset it was bridged from.', mint),
    min_original_mint: int('That number is at least this.', mint),
    max_original_mint: int('That number is at most this.', mint),
  }
}

/** Filters on assets, for all lists. */
export type AssetValues = Partial<Values<ReturnType<typeof assetListParameters>>>
