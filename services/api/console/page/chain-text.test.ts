import { expect, it } from 'vitest'
import { chainText } from './chain-text.js'
import { describeEvent } from './event-text.js'

it.each([
  ['Sword of Dawn', 'Sword of Dawn'],
  ['  padded\t', 'padded'],
  ['safe\u202egpj.exe', 'safe\\u{202e}gpj.exe'],
  ['a\u200bb\u2066c\u00add\ufeffe', 'a\\u{200b}b\\u{2066}c\\u{ad}d\\u{feff}e'],
  ['two\nlines', 'two\\u{a}lines'],
  ['Schwert für Löwen', '\u2068Schwert für Löwen\u2069'],
  ['חרב', '\u2068חרב\u2069'],
  ['x'.repeat(200), `${'x'.repeat(64)}…`],
])('the console shows the text %j from the chain as %j', (text, shown) => {
  expect(chainText(text)).toBe(shown)
})

it('names, memos and accounts of an event cannot change the direction or visibility of the text next to them', () => {
  const record = {
    sender_name: 'alice',
    recipient_name: 'bob',
    memo: '\u202eneppo si tekcap eht',
    assets: [{ name: 'Axe\u2067\u200b' }],
  }
  const message = { type: 'event', event: 'assets_transferred', entity: 'transfer', id: '1', record }
  const { detail } = describeEvent(JSON.stringify(message))!
  expect(detail).toBe('alice → bob · Axe\\u{2067}\\u{200b} · \\u{202e}neppo si tekcap eht')
})
