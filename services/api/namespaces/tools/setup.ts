import type { PageLimits } from '../page-limits.ts'
import type { ListReader } from '../../planner/index.ts'
import type { RecordKind } from '../../records/index.ts'
import type { Fragments } from '../../records/fragments/index.ts'

/** Shared state of the endpoints of a mounted namespace. */
export interface ToolsSetup {
  /** Tools contract account; an account name, so it needs no escaping in JSON. */
  readonly contract: string
  /** Assets contract account, until the tools contract has named it. */
  readonly assetsContract: string | undefined
  readonly limits: PageLimits
  /** Shared state of the assets inside links. */
  readonly shared: Fragments
  readonly links: RecordKind
  readonly lists: ListReader
}
