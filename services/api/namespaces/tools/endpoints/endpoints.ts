import type { Endpoint } from '../../../endpoint/index.ts'
import { endpoint } from '../../../endpoint/index.ts'
import { RequestError } from '../../../../core/http/index.ts'
import { config as record, toolsConfig } from '../records/config.ts'
import type { ToolsSetup } from '../setup.ts'
import { linkEndpoints } from './links.ts'

const noConfig = { status: 500, message: 'Config not found' } as const

/** Every endpoint of the namespace. Fixed paths come before paths with a parameter at the same position. */
export function toolsEndpoints(setup: ToolsSetup): Endpoint[] {
  const config = endpoint({
    path: '/v1/config',
    method: 'get',
    tag: 'config',
    summary: 'Settings of the contract',
    parameters: {},
    record: record.schema,
    failures: [noConfig],
    cache: 'path',
    run: async ({ session }) => {
      const text = await toolsConfig(session, setup.contract)
      if (text === undefined) throw new RequestError(noConfig.status, noConfig.message)
      return text
    },
  })
  return [config, ...linkEndpoints(setup)]
}
