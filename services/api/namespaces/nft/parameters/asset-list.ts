import { flag, ids, int, name, names } from '../../../../core/parameters/index.ts'
import type { Values } from '../../../../core/endpoint/index.ts'
import { assetFilter, assetNameSearch, collectionLists, hideOffers } from './parameter-groups.ts'
import { counting, paging, sorting, idBoundaries, timeBounds } from '../paging/index.ts'

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
    ...timeBounds('mint time (update or transfer time if sort is updated or transferred)'),
    authorized_account: name('Assets of collections that list this account as authorized.'),
    template_whitelist: ids('Template is one of the given values.'),
    template_blacklist: ids('Template is none of the given values; assets without a template match.'),
    hide_templates_by_accounts: names(
      'Leave out a template if one of the given accounts owns an asset of the template.',
    ),
    only_duplicate_templates: flag('Only assets whose owner has an older asset of the same template.'),
    has_backed_tokens: flag('true: assets with backed tokens; false: assets without backed tokens.'),
    has_template_buyoffer: flag(
      'true: assets whose template has a listed buy offer; false: all other assets.',
    ),
    template_mint: int('Mint number equals this number.', mint),
    min_template_mint: int('Mint number is at least this number.', mint),
    max_template_mint: int('Mint number is at most this number; assets without a template match.', mint),
    original_mint: int(
      'Mint number of the original asset, from which the asset was bridged, equals this number.',
      mint,
    ),
    min_original_mint: int(
      'Mint number of the original asset, from which the asset was bridged, is at least this number.',
      mint,
    ),
    max_original_mint: int(
      'Mint number of the original asset, from which the asset was bridged, is at most this number.',
      mint,
    ),
  }
}

/** Filters on assets, for all lists. */
export type AssetValues = Partial<Values<ReturnType<typeof assetListParameters>>>
