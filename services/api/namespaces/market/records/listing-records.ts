import type { Session } from '../../../database/index.ts'
import type { Json, KeptJson } from '../../../json/index.ts'
import type { Part } from '../../assets/index.ts'
import { assetArray, assetsOf, distinctIds, queryPacked, renderUnchanged } from '../../assets/index.ts'
import type { KeyPage } from '../../paging/index.ts'
import type { MarketSetup } from '../setup.ts'
import { containedAssetRenderer } from './asset-members.ts'
import type { ListingKind, ListingVersions } from './listing-kinds.ts'
import { auctions, buyoffers, sales, templateBuyoffers, VERSION_TEXTS } from './listing-kinds.ts'

/** Sales, in the order of the page; one that is not known, or still waits for its offer, is left out. */
export function renderSales(session: Session, setup: MarketSetup, page: KeyPage): Promise<Json[]> {
  return renderListings(session, setup, sales, page)
}

/** Sales as lists show them: with their place in the answer. */
export async function renderListedSales(
  session: Session,
  setup: MarketSetup,
  page: KeyPage,
): Promise<Json[]> {
  const listed = await listingMembers(session, setup, sales, page)
  return listed.map((members, index) => [members, `,"ordinality":"${index + 1}"}`])
}

/** Auctions, in the order of the page. */
export function renderAuctions(session: Session, setup: MarketSetup, page: KeyPage): Promise<Json[]> {
  return renderListings(session, setup, auctions, page)
}

/** Buy offers, in the order of the page. */
export function renderBuyoffers(session: Session, setup: MarketSetup, page: KeyPage): Promise<Json[]> {
  return renderListings(session, setup, buyoffers, page)
}

/** Template buy offers, in the order of the page. */
export function renderTemplateBuyoffers(
  session: Session,
  setup: MarketSetup,
  page: KeyPage,
): Promise<Json[]> {
  return renderListings(session, setup, templateBuyoffers, page)
}

async function renderListings(
  session: Session,
  setup: MarketSetup,
  kind: ListingKind,
  page: KeyPage,
): Promise<Json[]> {
  const listings = await listingMembers(session, setup, kind, page)
  return listings.map((members) => [members, '}'])
}

/** The records without their closing braces. */
function listingMembers(
  session: Session,
  setup: MarketSetup,
  kind: ListingKind,
  page: KeyPage,
): Promise<Json[]> {
  return renderUnchanged(setup.assets, kind.name, page, (ids) => readMembers(session, setup, kind, ids))
}

/** Listings by id; one that is not known is missing, and so is a sale that still waits for its offer. */
export type ListingReader = (
  session: Session,
  setup: MarketSetup,
  ids: readonly string[],
) => Promise<ReadonlyMap<string, Json>>

/** Reads sales. */
export const readSales: ListingReader = (session, setup, ids) => readListings(session, setup, sales, ids)

/** Reads auctions. */
export const readAuctions: ListingReader = (session, setup, ids) =>
  readListings(session, setup, auctions, ids)

/** Reads buy offers. */
export const readBuyoffers: ListingReader = (session, setup, ids) =>
  readListings(session, setup, buyoffers, ids)

/** Reads template buy offers. */
export const readTemplateBuyoffers: ListingReader = (session, setup, ids) =>
  readListings(session, setup, templateBuyoffers, ids)

async function readListings(
  session: Session,
  setup: MarketSetup,
  kind: ListingKind,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Json>> {
  const listings = await readMembers(session, setup, kind, ids)
  return new Map([...listings].map(([id, members]) => [id, [members, '}']]))
}

/** The records without their closing braces, by id. */
async function readMembers(
  session: Session,
  setup: MarketSetup,
  kind: ListingKind,
  ids: readonly string[],
): Promise<Map<string, KeptJson>> {
  const { parts, contract } = setup.assets
  const listings = await readOwn(session, setup, kind, ids)
  const versionsOf = (key: 2 | 4, version: 3 | 5): Map<string, string> =>
    new Map(
      listings
        .filter(({ versions }) => versions[key] !== '')
        .map(({ versions }) => [versions[key], versions[version]]),
    )
  const collections = await parts.lightCollections.load(session, versionsOf(2, 3))
  const templates = await parts.templates.load(session, versionsOf(4, 5))
  const render = containedAssetRenderer({ ...setup, prices: setup.parts.prices })
  const assets = await render(session, contract, parts, distinctIds(listings.map(({ own }) => own[1]!)))
  const contracts = `"market_contract":"${setup.contract}","assets_contract":"${contract}"`
  const records = new Map<string, KeptJson>()
  for (const { versions, own } of listings) {
    const [id, , collectionName, , templateId, , now] = versions
    const [members, contained, fee] = own as [string, string, string]
    const collection = collections.get(collectionName)
    // Gone between two statements: a fork has just undone it.
    if (!collection) continue
    const template = templates.get(templateId)
    const all = [contracts, own, now, collection, template, ...assetsOf(contained, assets)]
    const record = parts.composed.get(`${kind.name} ${id}`, all, () => {
      const asked = template ? `,"template":{${template[0]!},"data":${template[1]!}}` : ''
      const shared = `,"collection":{${collection[1]!},${fee}}${asked}`
      return [`{${contracts},${members}${now},"assets":`, assetArray(contained, assets), shared]
    })
    records.set(id, record)
  }
  return records
}

interface OwnListing {
  readonly versions: ListingVersions
  /** Texts of its part. */
  readonly own: Part
}

/** What listings say themselves, and what they are shown with; who is gone meanwhile is left out. */
async function readOwn(
  session: Session,
  { parts, clock }: MarketSetup,
  { name, versions, one, isTimed }: ListingKind,
  ids: readonly string[],
): Promise<OwnListing[]> {
  const more = isTimed ? [clock()] : []
  if (ids.length === 1) {
    const rows = await queryPacked<string[]>(session, { ...one, values: [ids[0]!, ...more] })
    return rows.map((row) => ({
      versions: row.slice(0, VERSION_TEXTS) as unknown as ListingVersions,
      own: row.slice(VERSION_TEXTS),
    }))
  }
  const rows = await queryPacked<ListingVersions>(session, { ...versions, values: [ids, ...more] })
  const known = await parts[name].load(session, new Map(rows.map(([id, version]) => [id, version])))
  return rows.flatMap((row) => {
    const own = known.get(row[0])
    return own ? [{ versions: row, own }] : []
  })
}
