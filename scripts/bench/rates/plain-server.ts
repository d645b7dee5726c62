/**
 * A minimal server with a database: no framework, a pool of four connections, one prepared statement per request.
 * Usage: plain-server.js ADDRESS, the address of the database as JSON. Prints one line of JSON: {"url"}.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createPool } from '../../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../../services/core/database/index.ts'

const CONNECTIONS = 4
const address = JSON.parse(process.argv[2]!) as DatabaseAddress
const pool = createPool(address, { applicationName: 'bench-plain', max: CONNECTIONS })
const statement = { name: 'one', text: 'SELECT 1 AS one', rowMode: 'array' } as const

const server = createServer((_request, response) => {
  pool.query<[number]>(statement).then(
    ({ rows }) => {
      const body = JSON.stringify({ success: true, data: rows[0]?.[0] })
      response.writeHead(200, {
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(body),
      })
      response.end(body)
    },
    () => {
      response.writeHead(503, { 'Content-Length': 0 })
      response.end()
    },
  )
})
// No keep-alive timeout: the connections to this server are idle while the API is measured.
server.keepAliveTimeout = 0
server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }))
})
process.on('SIGTERM', () => process.exit(0))
