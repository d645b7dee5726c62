import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { expect, it } from 'vitest'
import { setHeaders } from './headers.ts'

it('a header that is set twice has the last value, but the Vary header has both values', () => {
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  setHeaders(response, { Vary: 'Origin', ETag: 'W/"a"' })
  setHeaders(response, { ETag: 'W/"b"', Vary: 'Accept-Encoding' })
  expect(response.getHeaders()).toEqual({ vary: 'Origin, Accept-Encoding', etag: 'W/"b"' })
})
