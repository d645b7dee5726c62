import { keyText, parseKeyText } from '../../antelope/index.ts'
import { toolsTables as tables } from '../tables/index.ts'
import { big, bigs, contractTable, isTrue, scope, text } from './contract-table.ts'

/** Tables of the tools contract. */
export const toolsContract = {
  config: contractTable({ family: 'tools', name: 'config' }, tables.config, {
    contract: scope,
    version: text('version'),
    assets_contract: text('atomicassets_account'),
    link_counter: big('link_counter'),
  }),
  links: contractTable({ family: 'tools', name: 'links', primary: 'link_id' }, tables.links, {
    link_id: big('link_id'),
    creator: text('creator'),
    public_key: ({ data }) => modernKey(data.key as string),
    asset_ids: bigs('asset_ids'),
    state: ({ data }) => (isTrue(data.assets_transferred) ? 1 : 0),
    memo: text('memo'),
  }),
}

/** Converts a public key in either text form to the form that names the curve (`PUB_K1_…`). */
function modernKey(key: string): string {
  const packed = parseKeyText('PUB', key)
  return keyText('PUB', packed[0]!, packed.subarray(1))
}
