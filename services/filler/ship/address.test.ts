import { expect, test } from 'vitest'
import { parseAddress } from './address.ts'

test('node addresses are ws, wss and ws+unix URLs; other texts are refused', () => {
  expect(parseAddress('ws://node.example:8080')).toEqual({
    url: 'ws://node.example:8080/',
    socketPath: null,
    label: 'ws://node.example:8080/',
  })
  expect(parseAddress('wss://reader:secret@node.example/ship').label).toBe('wss://node.example/ship')
  expect(parseAddress('ws+unix:///run/nodeos/ship.sock')).toMatchObject({
    socketPath: '/run/nodeos/ship.sock',
  })
  for (const text of ['', 'node:8080', 'http://node.example', 'ws+unix://', '/run/ship.sock']) {
    expect(() => parseAddress(text), text).toThrow(/state-history address/)
  }
})
