import type { IncomingHttpHeaders } from 'node:http'
import type { Context } from 'koa'
import {
  compress,
  COMPRESSION_THRESHOLD_BYTES,
  JSON_TYPE,
  namesTag,
  negotiateEncoding,
  weakTag,
} from '../../core/http/index.ts'
import type { Encoding, Headers } from '../../core/http/index.ts'
import { jsonBytes } from '../json/index.ts'
import type { Json } from '../json/index.ts'

/** An answer in the form that one client accepts. */
export interface AnswerForm {
  readonly status: 200 | 304
  /** `Vary` is added to the other headers that the answer varies by. */
  readonly headers: Headers
  /** In pieces, in their order; none with status 304. */
  readonly body: readonly Buffer[] | undefined
}

/** `data` of an answer, to be put into any number of them. */
export class AnswerData {
  readonly tag: string
  readonly bytes: Buffer

  private constructor(tag: string, bytes: Buffer) {
    this.tag = tag
    this.bytes = bytes
  }

  static of(data: Json): AnswerData {
    const bytes = jsonBytes(data)
    return new AnswerData(weakTag(bytes), bytes)
  }
}

/** An answer of an endpoint, status 200, ready to be sent any number of times. */
export class Answer {
  /** Weak: computed over `data`, independent of time and encoding. */
  readonly tag: string
  /** Bytes of the body as it is. */
  readonly length: number
  readonly #pieces: readonly Buffer[]
  readonly #known: AnswerForm
  readonly #forms = new Map<Encoding, AnswerForm | Promise<AnswerForm>>()
  /** Called with the size of each further form of the body that is cached with it. */
  onGrowth: ((bytes: number) => void) | undefined

  /** @param pieces of the body, in their order: what many answers have in common is not copied for each. */
  constructor(tag: string, pieces: readonly Buffer[]) {
    this.tag = tag
    this.#pieces = pieces
    this.length = lengthOf(pieces)
    this.#known = { status: 304, headers: this.#headers({}), body: undefined }
    this.#forms.set('identity', formOf(pieces, this.#headers({ 'Content-Type': JSON_TYPE })))
  }

  /** @param data what the answer is about; @param envelope the texts before and after it. */
  static of(data: Json | AnswerData, [before, after]: readonly [before: string, after: string]): Answer {
    if (!(data instanceof AnswerData)) {
      // Both are ASCII.
      const bytes = jsonBytes([before, data, after])
      return new Answer(weakTag(bytes.subarray(before.length, bytes.length - after.length)), [bytes])
    }
    return new Answer(data.tag, [Buffer.from(before), data.bytes, Buffer.from(after)])
  }

  /** The body as it is. */
  get bytes(): Buffer {
    return joinedPieces(this.#pieces)
  }

  /** The form for the headers of a request: a promise only where it has to be compressed first. */
  formFor(method: string, request: IncomingHttpHeaders): AnswerForm | Promise<AnswerForm> {
    if ((method === 'GET' || method === 'HEAD') && namesTag(request['if-none-match'], this.tag))
      return this.#known
    const accepted = this.#isLarge ? request['accept-encoding'] : undefined
    const encoding = negotiateEncoding(accepted ?? '')
    return this.#forms.get(encoding) ?? this.#compress(encoding)
  }

  /** Sends it as the client accepts it, or 304 when the client has it. */
  async send(context: Context): Promise<void> {
    const form = this.formFor(context.method, context.req.headers)
    const { status, headers, body } = form instanceof Promise ? await form : form
    const { res } = context
    // The body is ready to be sent: what Koa finds out about bodies is known, and takes longer than sending it.
    context.respond = false
    res.statusCode = status
    for (const name in headers) {
      if (name === 'Vary') context.vary(headers[name]!)
      else res.setHeader(name, headers[name]!)
    }
    if (body && context.method !== 'HEAD') res.end(joinedPieces(body))
    else res.end()
  }

  get #isLarge(): boolean {
    return this.length >= COMPRESSION_THRESHOLD_BYTES
  }

  #headers(more: Headers): Headers {
    return { ETag: this.tag, ...(this.#isLarge ? { Vary: 'Accept-Encoding' } : {}), ...more }
  }

  #compress(encoding: Encoding): Promise<AnswerForm> {
    const made = compress(this.bytes, encoding).then((body) => {
      this.onGrowth?.(body.length)
      const headers = this.#headers({ 'Content-Type': JSON_TYPE, 'Content-Encoding': encoding })
      const form = formOf([body], headers)
      this.#forms.set(encoding, form)
      return form
    })
    this.#forms.set(encoding, made)
    return made
  }
}

function formOf(body: readonly Buffer[], headers: Headers): AnswerForm {
  return { status: 200, headers: { ...headers, 'Content-Length': String(lengthOf(body)) }, body }
}

function lengthOf(pieces: readonly Buffer[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0)
}

function joinedPieces(pieces: readonly Buffer[]): Buffer {
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
}
