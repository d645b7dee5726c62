import type { Namespace } from '../../endpoint/index.ts'
import { Parts } from '../assets/index.ts'
import { toolsEndpoints } from './endpoints/index.ts'
import { linkRecord, readLinks } from './records/index.ts'
import type { ToolsLimits } from './setup.ts'

export type { ToolsLimits } from './setup.ts'

/** What the tools namespace needs to know. */
export interface ToolsNamespaceOptions {
  /** Tools contract account. */
  readonly contract: string
  /** Assets contract account, until the tools contract has named it. */
  readonly assetsContract: string | undefined
  readonly limits: ToolsLimits
}

/** The tools namespace: links that assets are claimed with. */
export function createToolsNamespace(options: ToolsNamespaceOptions): Namespace {
  const parts = new Parts()
  const setup = { ...options, parts }
  return {
    name: 'tools',
    endpoints: toolsEndpoints(setup),
    records: {
      link: { schema: linkRecord, read: (session, keys) => readLinks(session, setup, keys) },
    },
    forget() {
      parts.clear()
    },
  }
}
