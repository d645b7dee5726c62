import { z } from 'zod'
import type { Check } from './check.ts'
import { expectThat, NotApplicable } from './check.ts'
import type { Ask } from './client.ts'

const token = z.object({ token: z.string().min(20), expires_at: z.number() })
const abi = z.object({
  account: z.string(),
  block_num: z.number(),
  abi: z.object({ version: z.string(), structs: z.array(z.unknown()), actions: z.array(z.unknown()) }),
})
const failure = z.object({ code: z.string(), trace_id: z.string(), message: z.string() })

function issue(ask: Ask, apiKey: string): ReturnType<Ask> {
  const body = JSON.stringify({ api_key: apiKey })
  const headers = { 'content-type': 'application/json' }
  return ask('/v1/auth/issue', { method: 'POST', headers, body })
}

/** Checks that access without a key is refused. With a key, also exchanges the key for a token and reads an ABI. */
export function stateChecks(ask: Ask, apiKey: string | undefined, account: string): Check[] {
  return [
    {
      name: 'state service refuses requests without a key',
      run: async () => {
        const refusedFirst = await ask(`/v0/state/abi?account=${account}&json=true`)
        expectThat(refusedFirst.status === 401, `status ${refusedFirst.status} without a token`)
        const refused = await issue(ask, 'server_0123456789abcdef')
        // A client that tries many keys has to wait.
        expectThat([401, 429].includes(refused.status), `status ${refused.status} for an unknown key`)
        return `${failure.parse(JSON.parse(refusedFirst.text)).code}, ${failure.parse(JSON.parse(refused.text)).code}`
      },
    },
    {
      name: 'API key exchange and ABI request',
      run: async () => {
        if (apiKey === undefined) throw new NotApplicable('no --api-key')
        const issued = await issue(ask, apiKey)
        expectThat(issued.status === 200, `status ${issued.status}: ${issued.text.slice(0, 200)}`)
        const { token: bearer } = token.parse(JSON.parse(issued.text))
        const headers = { authorization: `Bearer ${bearer}` }
        const answer = await ask(`/v0/state/abi?account=${account}&json=true`, { headers })
        expectThat(answer.status === 200, `status ${answer.status}: ${answer.text.slice(0, 200)}`)
        const found = abi.parse(JSON.parse(answer.text))
        return `ABI of ${found.account}: version ${found.abi.version}, set at block ${found.block_num}`
      },
    },
  ]
}
