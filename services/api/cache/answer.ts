import type { Context } from 'koa'
import {
  answerIfKnown,
  compress,
  COMPRESSION_THRESHOLD_BYTES,
  JSON_TYPE,
  negotiateEncoding,
  weakTag,
} from '../../core/http/index.ts'
import type { Encoding } from '../../core/http/index.ts'

/** An answer of an endpoint, status 200, ready to be sent any number of times. */
export class Answer {
  /** Weak: it stands for `data`, whenever and however that was sent. */
  readonly tag: string
  /** The body as it is. */
  readonly bytes: Buffer
  readonly #variants = new Map<Encoding, Promise<Buffer>>()
  /** Called with the size of each further form of the body that is kept with it. */
  onGrowth: ((bytes: number) => void) | undefined

  constructor(tag: string, bytes: Buffer) {
    this.tag = tag
    this.bytes = bytes
  }

  /** @param data JSON text of `data`; @param body JSON text of the envelope around it. */
  static of(data: string, body: string): Answer {
    return new Answer(weakTag(data), Buffer.from(body, 'utf8'))
  }

  /** Sends it as the client accepts it, or 304 when the client has it. */
  async send(context: Context): Promise<void> {
    const isLarge = this.bytes.length >= COMPRESSION_THRESHOLD_BYTES
    if (isLarge) context.vary('Accept-Encoding')
    if (answerIfKnown(context, this.tag)) return
    context.status = 200
    context.set('Content-Type', JSON_TYPE)
    const encoding = isLarge ? negotiateEncoding(context.get('Accept-Encoding')) : 'identity'
    if (encoding === 'identity') {
      context.body = this.bytes
      return
    }
    context.set('Content-Encoding', encoding)
    context.body = await this.#compressed(encoding)
  }

  #compressed(encoding: Exclude<Encoding, 'identity'>): Promise<Buffer> {
    const known = this.#variants.get(encoding)
    if (known) return known
    const made = compress(this.bytes, encoding).then((bytes) => {
      this.onGrowth?.(bytes.length)
      return bytes
    })
    this.#variants.set(encoding, made)
    return made
  }
}
