import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { packageRoot } from '../../services/core/paths/index.ts'

const read = (path: string): Promise<string> => readFile(join(packageRoot, path), 'utf8')

/** Returns the arguments of a directive in an nginx configuration. */
function directive(text: string, name: string): string[] {
  const found = new RegExp(`^ *${name} +([^;]+);`, 'm').exec(text)
  if (!found) throw new Error(`there is no ${name}`)
  return found[1]!.split(/ +/)
}

function bytes(text: string): number {
  const [, number, unit] = /^(\d+)([km]?)$/i.exec(text)!
  return Number(number) * { '': 1, k: 1_024, m: 1_048_576 }[unit!.toLowerCase() as '' | 'k' | 'm']
}

it('the proxy buffers nothing in files, and the buffers of all connections fit into its memory', async () => {
  const files = ['nginx.conf.template', 'nginx-routes.conf.template']
  const text = (await Promise.all(files.map((file) => read(`config-templates/${file}`)))).join('\n')
  expect(directive(text, 'proxy_request_buffering')).toEqual(['off'])
  expect(directive(text, 'proxy_max_temp_file_size')).toEqual(['0'])
  const everybody = Number(directive(text, 'limit_conn everybody')[0])
  const [count, size] = directive(text, 'proxy_buffers')
  const each =
    bytes(directive(text, 'client_body_buffer_size')[0]!) +
    bytes(directive(text, 'proxy_buffer_size')[0]!) +
    Number(count) * bytes(size!)
  const compose = parse(await read('docker-compose.yml'), { merge: true }) as {
    services: { nginx: { mem_limit: string } }
  }
  expect(everybody * each).toBeLessThan(bytes(compose.services.nginx.mem_limit))
  // Without this time-out, old worker processes stay alive after a reload until their connections close.
  expect(directive(text, 'worker_shutdown_timeout')).toEqual(['${READ_TIMEOUT_S}s'])
})
