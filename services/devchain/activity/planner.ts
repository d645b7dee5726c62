import type { ActionInput } from '../runtime/index.ts'
import {
  acceptOffer,
  burn,
  cancelOffer,
  createOffer,
  declineOffer,
  editAsset,
  mint,
  transfer,
} from './asset-plans.ts'
import {
  deleteTemplate,
  editCollection,
  editTemplate,
  extendSchema,
  newCollection,
  newSchema,
  newTemplate,
} from './collection-plans.ts'
import { newAccount, tokenTransfer } from './people-plans.ts'
import {
  announceAuction,
  bid,
  cancelAuction,
  claimAuction,
  payAuctionRam,
  startAuction,
} from './auction-plans.ts'
import {
  acceptBuyoffer,
  cancelBuyoffer,
  cancelTemplateBuyoffer,
  createBuyoffer,
  createTemplateBuyoffer,
  declineBuyoffer,
  fulfillTemplateBuyoffer,
  payBuyofferRam,
} from './buyoffer-plans.ts'
import { changeBonusFee, changeRoyalties, deploy, newMarketplace, withdraw } from './market-setup-plans.ts'
import { writePrices } from './oracle-plans.ts'
import {
  announceSale,
  cancelSale,
  paySaleRam,
  purchaseSale,
  startSale,
  withdrawSaleOffer,
} from './sale-plans.ts'
import { announceLink, cancelLink, claimLink, startLink } from './tools-plans.ts'
import type { Plan, World } from './world.ts'

/** All kinds of generated transactions. */
export type ActivityKind = keyof typeof plans

/** Relative frequency of each kind of transaction. */
export type ActivityMix = Readonly<Partial<Record<ActivityKind, number>>>

const plans = {
  newAccount,
  tokenTransfer,
  newCollection,
  editCollection,
  newSchema,
  extendSchema,
  newTemplate,
  editTemplate,
  deleteTemplate,
  mint,
  transfer,
  editAsset,
  createOffer,
  acceptOffer,
  declineOffer,
  cancelOffer,
  burn,
  deploy,
  newMarketplace,
  changeBonusFee,
  changeRoyalties,
  withdraw,
  writePrices,
  announceSale,
  startSale,
  purchaseSale,
  cancelSale,
  withdrawSaleOffer,
  paySaleRam,
  announceAuction,
  startAuction,
  bid,
  claimAuction,
  cancelAuction,
  payAuctionRam,
  createBuyoffer,
  acceptBuyoffer,
  declineBuyoffer,
  cancelBuyoffer,
  payBuyofferRam,
  createTemplateBuyoffer,
  fulfillTemplateBuyoffer,
  cancelTemplateBuyoffer,
  announceLink,
  startLink,
  claimLink,
  cancelLink,
} satisfies Record<string, Plan>

/** Relative frequencies of transactions on a small, lively chain. If the drawn kind is impossible, another is drawn. */
export const everydayMix: ActivityMix = {
  newAccount: 1,
  tokenTransfer: 12,
  newCollection: 0.3,
  editCollection: 0.6,
  newSchema: 0.3,
  extendSchema: 0.3,
  newTemplate: 2,
  editTemplate: 1.5,
  deleteTemplate: 0.4,
  mint: 28,
  transfer: 24,
  editAsset: 14,
  createOffer: 8,
  acceptOffer: 5,
  declineOffer: 1.5,
  cancelOffer: 1.5,
  burn: 3,
  deploy: 8,
  newMarketplace: 0.3,
  changeBonusFee: 0.5,
  changeRoyalties: 2.5,
  withdraw: 1.5,
  writePrices: 6,
  announceSale: 14,
  startSale: 1.5,
  purchaseSale: 13,
  cancelSale: 2,
  withdrawSaleOffer: 0.4,
  paySaleRam: 0.2,
  announceAuction: 4,
  startAuction: 1,
  bid: 9,
  claimAuction: 5,
  cancelAuction: 0.6,
  payAuctionRam: 0.2,
  createBuyoffer: 4,
  acceptBuyoffer: 2,
  declineBuyoffer: 0.7,
  cancelBuyoffer: 0.5,
  payBuyofferRam: 0.2,
  createTemplateBuyoffer: 2,
  fulfillTemplateBuyoffer: 1.5,
  cancelTemplateBuyoffer: 0.3,
  announceLink: 2.5,
  startLink: 0.8,
  claimLink: 1.8,
  cancelLink: 0.4,
}

/** Minimum numbers of entities before random activity begins; missing entities are created first. */
const FEWEST_PEOPLE = 8
const FEWEST_COLLECTIONS = 3

/** Failed draws (no offer to accept, nobody to pay) after which a block gets no further transaction. */
const MAX_DRAWS = 12

/** Draws the next transaction; null if no draw succeeds. */
export function nextTransaction(world: World, mix: ActivityMix): ActionInput[] | null {
  for (let draws = 0; draws < MAX_DRAWS; draws++) {
    const kind = missingKind(world) ?? world.random.weighted(mix as Record<ActivityKind, number>)
    const actions = plans[kind](world)
    if (actions !== null) return actions
  }
  return null
}

function missingKind(world: World): ActivityKind | null {
  const { people, collections } = world.directory
  if (people.length < FEWEST_PEOPLE) return 'newAccount'
  if (world.directory.config() === undefined) return null
  if (collections.length < FEWEST_COLLECTIONS) return 'newCollection'
  if (collections.some(({ schemas }) => schemas.length === 0)) return 'newSchema'
  if (collections.some(({ templates }) => templates.length === 0)) return 'newTemplate'
  return null
}
