import { Ajv2020 } from 'ajv/dist/2020.js'
import type { ValidateFunction } from 'ajv'
import { parseConfig } from '../../services/core/config/index.ts'
import { createNamespace, liveMessages } from '../../services/api/index.ts'
import type { LiveMessage } from './clients.ts'

const { config } = parseConfig({
  server: {
    namespaces: [
      { name: 'assets', path: '/assets', args: { assets_account: 'atomicassets' } },
      { name: 'market', path: '/market', args: { market_account: 'atomicmarket' } },
      { name: 'tools', path: '/tools', args: { tools_account: 'atomictoolsx' } },
    ],
  },
})
const ajv = new Ajv2020({ strict: false, allErrors: true })
const checks = new Map<string, ValidateFunction>()

for (const entry of config.server.namespaces) {
  const namespace = createNamespace(entry, { trigrams: true })!
  for (const [event, schema] of liveMessages.eventSchemas(namespace)) {
    checks.set(`event ${event}`, ajv.compile(closed(schema)))
  }
}
for (const schema of liveMessages.noticeSchemas) {
  checks.set(String(schema.properties!.type!.const), ajv.compile(closed(schema)))
}

/** Forbids undocumented members, except in objects whose documentation lists no members. */
function closed(schema: object): object {
  return JSON.parse(
    JSON.stringify(schema, (key, value: unknown) => {
      if (key === '' || typeof value !== 'object' || value === null || !('properties' in value)) return value
      const { properties } = value as { properties: object }
      return Object.keys(properties).length === 0 ? value : { additionalProperties: false, ...value }
    }),
  ) as object
}

/** Validates a message against its documented schema; returns the errors, or empty text. */
export function problemsOf(message: LiveMessage): string {
  const name = message.type === 'event' ? `event ${message.event!}` : message.type
  const check = checks.get(name)
  if (!check) return `there is no ${name}`
  return check(message) ? '' : `${name}: ${ajv.errorsText(check.errors)}`
}
