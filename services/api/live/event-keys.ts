import type { EventEntity } from '../../core/live/index.ts'
import type { FeedEvent } from '../../core/feed/index.ts'

/** What events are found by. */
export type KeyName = 'collections' | 'templates' | 'accounts' | 'assets' | 'listings'

/** Members of records that name an account. */
const accountMembers = [
  'owner',
  'seller',
  'buyer',
  'recipient',
  'sender_name',
  'recipient_name',
  'creator',
  'claimer',
  'author',
  'burned_by_account',
]
/** Members of records that hold assets, whole or by their ids. */
const assetMembers = ['assets', 'sender_assets', 'recipient_assets']
const listings: ReadonlySet<EventEntity> = new Set([
  'offer',
  'sale',
  'auction',
  'buyoffer',
  'template_buyoffer',
  'link',
])

type Members = Readonly<Record<string, unknown>>

/** Values by which an event can be filtered: those of its action and of its record. The record is inspected only for subscriptions that filter by it.
 */
export class EventKeys {
  readonly #event: FeedEvent
  readonly #entity: EventEntity
  readonly #record: string | undefined
  #found: Record<KeyName, string[]> | undefined

  constructor(event: FeedEvent, entity: EventEntity, record: string | undefined) {
    this.#event = event
    this.#entity = entity
    this.#record = record
  }

  values(name: KeyName): readonly string[] {
    return (this.#found ??= this.#find())[name]
  }

  #find(): Record<KeyName, string[]> {
    const { keys, id } = this.#event
    const found = {
      collections: [...(keys.collections ?? [])],
      templates: [...(keys.templates ?? [])],
      accounts: [...(keys.accounts ?? [])],
      assets: [...(keys.assets ?? [])],
      listings: listings.has(this.#entity) ? [id, `${this.#entity}/${id}`] : [],
    }
    if (this.#record !== undefined) {
      const record = JSON.parse(this.#record) as Members
      addRecord(record, found)
      for (const name of accountMembers) add(found.accounts, record[name])
      for (const name of assetMembers) {
        const assets = record[name]
        if (Array.isArray(assets)) for (const asset of assets as unknown[]) addAsset(asset, found)
      }
      // Only an asset's own record has its id on top.
      add(found.assets, record.asset_id)
    }
    return found
  }
}

function addAsset(asset: unknown, found: Record<KeyName, string[]>): void {
  if (typeof asset === 'string') add(found.assets, asset)
  else if (isMembers(asset)) {
    add(found.assets, asset.asset_id)
    addRecord(asset, found)
  }
}

function addRecord(record: Members, found: Record<KeyName, string[]>): void {
  add(found.collections, record.collection_name)
  add(found.templates, record.template_id)
  if (isMembers(record.collection)) add(found.collections, record.collection.collection_name)
  if (isMembers(record.template)) add(found.templates, record.template.template_id)
}

function add(list: string[], value: unknown): void {
  if (typeof value === 'string' && !list.includes(value)) list.push(value)
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
