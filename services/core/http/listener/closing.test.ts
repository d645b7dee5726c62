import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { onceClosed } from './closing.ts'

it('when a connection closes, the close callbacks of all unsent responses on the connection run, also of responses that wait for an earlier response', async () => {
  const closed: string[] = []
  let started = 0
  const server = createServer((req, res) => {
    started++
    for (const name of ['a', 'b']) onceClosed({ req, res }, () => closed.push(`${req.url ?? ''} ${name}`))
    if (req.url === '/sent') res.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const paths = ['/sent', '/open', '/sent', '/waiting']
  socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: api\r\n\r\n`).join(''))
  await expect.poll(() => started).toBe(paths.length)
  await expect.poll(() => closed).toEqual(['/sent a', '/sent b'])
  socket.destroy()
  await expect.poll(() => closed.length).toBe(2 * paths.length)
  expect(closed.sort()).toEqual(paths.flatMap((path) => [`${path} a`, `${path} b`]).sort())
  server.close()
})
