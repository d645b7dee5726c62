/*
 * Describes messages of the event stream in one line each. Any member of a record may be missing; the line then has
 * fewer parts.
 */

import { chainText } from './chain-text.js'

/**
 * @typedef {{ title: string, kind: 'event' | 'fork' | 'failure', detail: string, block: number | undefined,
 *   timeMs: number | undefined }} EventLine
 */

const MOST_NAMED = 3

/**
 * Describes a message; undefined if the text is no message of the protocol.
 * @param {string} text
 * @returns {EventLine | undefined}
 */
export function describeEvent(text) {
  /** @type {unknown} */
  let message
  try {
    message = JSON.parse(text)
  } catch {
    return undefined
  }
  const type = wordAt(message, 'type')
  if (type === 'fork') {
    const block = numberAt(message, 'block_num')
    return {
      title: 'Fork',
      kind: 'fork',
      detail: 'Blocks from here on were undone',
      block,
      timeMs: undefined,
    }
  }
  if (type === 'gap') {
    const block = numberAt(message, 'to_block')
    return {
      title: 'Gap',
      kind: 'fork',
      detail: 'Events up to here were not published',
      block,
      timeMs: undefined,
    }
  }
  if (type === 'error') {
    const detail = wordAt(message, 'message')
    return { title: 'The stream ended', kind: 'failure', detail, block: undefined, timeMs: undefined }
  }
  const name = wordAt(message, 'event')
  if (name === '') return undefined
  return {
    title: titleOf(name),
    kind: 'event',
    detail: detailOf(message),
    block: numberAt(message, 'block', 'num'),
    timeMs: numberAt(message, 'block', 'time'),
  }
}

/**
 * Whether a message announces that the server stops. The client can then resume the stream at its last cursor.
 * @param {string} text
 */
export function isStopping(text) {
  try {
    return wordAt(JSON.parse(text), 'code') === 'STOPPING'
  } catch {
    return false
  }
}

/** @param {string} name */
function titleOf(name) {
  const words = name.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** @param {unknown} message */
function detailOf(message) {
  const record = at(message, 'record')
  const id = textAt(message, 'id')
  switch (wordAt(message, 'entity')) {
    case 'asset':
      return joined([nameOf(record) || `#${id}`, collectionOf(record), ownerOf(record)])
    case 'transfer':
      return joined([wayOf(record), namesOf(at(record, 'assets')), textAt(record, 'memo')])
    case 'offer':
      return joined([wayOf(record), `offer #${id}`])
    case 'template':
      return joined([nameOf(record) || `#${id}`, collectionOf(record)])
    case 'link':
      return joined([`link #${id}`, textAt(record, 'creator')])
    default:
      if (at(record, 'price') === undefined) return joined([nameOf(record), id])
      return joined([
        priceOf(record),
        namesOf(at(record, 'assets')),
        textAt(record, 'seller') || textAt(record, 'buyer'),
      ])
  }
}

/** @param {readonly string[]} parts */
function joined(parts) {
  return parts.filter((part) => part !== '').join(' · ')
}

/** @param {unknown} record */
function nameOf(record) {
  return textAt(record, 'name') || textAt(record, 'immutable_data', 'name')
}

/** @param {unknown} record */
function collectionOf(record) {
  return textAt(record, 'collection', 'collection_name')
}

/** @param {unknown} record */
function ownerOf(record) {
  const owner = textAt(record, 'owner')
  return owner === '' ? '' : `of ${owner}`
}

/** @param {unknown} record */
function wayOf(record) {
  const [from, to] = [textAt(record, 'sender_name'), textAt(record, 'recipient_name')]
  return from === '' || to === '' ? '' : `${from} → ${to}`
}

/** @param {unknown} assets */
function namesOf(assets) {
  if (!Array.isArray(assets) || assets.length === 0) return ''
  const names = assets.slice(0, MOST_NAMED).map((asset) => nameOf(asset) || `#${textAt(asset, 'asset_id')}`)
  const more = assets.length - names.length
  return names.join(', ') + (more > 0 ? ` and ${more} more` : '')
}

/**
 * Formats a price with its token. The amount is a 64-bit number as text, too large for a JavaScript number, so the
 * decimal point is inserted into the text.
 * @param {unknown} record
 */
function priceOf(record) {
  const amount = wordAt(record, 'price', 'amount')
  const precision = numberAt(record, 'price', 'token_precision') ?? 0
  if (!/^\d+$/.test(amount)) return ''
  const padded = amount.padStart(precision + 1, '0')
  const point = padded.length - precision
  const digits =
    precision === 0 ? padded : `${padded.slice(0, point)}.${padded.slice(point)}`.replace(/\.?0+$/, '')
  return `${digits} ${textAt(record, 'price', 'token_symbol')}`.trim()
}

/**
 * @param {unknown} value
 * @param {readonly string[]} path
 * @returns {unknown}
 */
function at(value, ...path) {
  let found = value
  for (const name of path) {
    if (typeof found !== 'object' || found === null) return undefined
    found = Reflect.get(found, name)
  }
  return found
}

/**
 * Text that accounts wrote on the chain, escaped by `chainText` for display.
 * @param {unknown} value
 * @param {readonly string[]} path
 */
function textAt(value, ...path) {
  return chainText(wordAt(value, ...path))
}

/**
 * Unescaped text of the protocol, which is compared and not displayed.
 * @param {unknown} value
 * @param {readonly string[]} path
 */
function wordAt(value, ...path) {
  const found = at(value, ...path)
  return typeof found === 'string' ? found : ''
}

/**
 * @param {unknown} value
 * @param {readonly string[]} path
 */
function numberAt(value, ...path) {
  const found = at(value, ...path)
  return typeof found === 'number' ? found : undefined
}
