import { id, ids, inPath, names, text } from '../../../core/parameters/index.ts'
import type { Values } from '../../../core/endpoint/index.ts'
import { collectionLists } from '../nft/parameters/index.ts'
import { counting, createdOrUpdated, paging, sorting, idBoundaries } from '../nft/paging/index.ts'
import { logParameters } from '../nft/logs/index.ts'

/** Path parameter with the id of a link. */
export const ofLink = { link_id: inPath(id('Id of the link.')) }

const STATES = '0 waiting, 1 created, 2 cancelled, 3 claimed'

export function linkParameters(limit: number) {
  return {
    ...paging(limit),
    ...sorting(['created', 'updated']),
    ...counting,
    creator: names('Account that announced the link is one of the given values.'),
    claimer: names('Account that claimed the link is one of the given values.'),
    public_key: text(
      'Public key of the link: PUB_K1_..., PUB_R1_..., PUB_WA_..., or the older form of a K1 key that begins with EOS.',
      { minimum: 1, maximum: 1000 },
    ),
    state: ids(`${STATES}; separate several values by commas.`, 'comma', `must be one or more of ${STATES}`),
    asset_id: ids('The link contains one of the given assets.'),
    ...collectionLists,
    ...idBoundaries('link_id'),
    ...createdOrUpdated,
  }
}

export type LinkValues = Values<ReturnType<typeof linkParameters>>

export function linkLogParameters(limit: number) {
  return { ...ofLink, ...logParameters(limit) }
}

export type LinkLogValues = Values<ReturnType<typeof linkLogParameters>>
