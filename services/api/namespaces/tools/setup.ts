import type { PageLimits } from '../page-limits.ts'
import type { ListReader } from '../../planner/index.ts'
import type { RecordKind } from '../../records/index.ts'
import type { Fragments } from '../../records/fragments/index.ts'

/** Dependencies that the endpoints of a tools namespace share. */
export interface ToolsSetup {
  /** Account of the tools contract; an account name, so it needs no escaping in JSON. */
  readonly contract: string
  /** Account of the assets contract, used until the settings of the tools contract name the account. */
  readonly assetsContract: string | undefined
  readonly limits: PageLimits
  /** Dependencies of the records of the assets inside links. */
  readonly shared: Fragments
  readonly links: RecordKind
  readonly lists: ListReader
}
