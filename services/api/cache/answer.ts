import type { IncomingHttpHeaders } from 'node:http'
import type { Context } from 'koa'
import { compress, COMPRESSION_THRESHOLD_BYTES, negotiateEncoding } from '../../core/http/content/index.ts'
import { forEachYielding, JSON_TYPE } from '../../core/http/index.ts'
import { namesTag, setHeaders, weakTag } from '../../core/http/headers/index.ts'
import type { Encoding } from '../../core/http/content/index.ts'
import type { Headers } from '../../core/http/headers/index.ts'
import { jsonBytes, jsonPieces } from '../json/index.ts'
import type { Json } from '../json/index.ts'

/** Status, headers and body of an answer in one content encoding. */
export interface AnswerForm {
  readonly status: 200 | 304
  /** The sender merges the value of `Vary` with the `Vary` header of CORS. */
  readonly headers: Headers
  /** Body of the answer; undefined if the status is 304. */
  readonly body: Buffer | undefined
}

/** Text before and after the member `data` in the JSON of a response body. Both texts are ASCII. */
export type Envelope = readonly [before: string, after: string]

/** Response of an endpoint with status 200. One answer can be sent to any number of clients. */
export class Answer {
  /** Weak ETag. The hash covers `data` only, so that the tag does not depend on the query time and the encoding. */
  readonly tag: string
  /** Uncompressed body. */
  readonly bytes: Buffer
  readonly #isLarge: boolean
  readonly #forms = new Map<Encoding, AnswerForm | Promise<AnswerForm>>()
  /** Called with the size of each compressed body that is stored with the answer. */
  onGrowth: ((bytes: number) => void) | undefined

  constructor(tag: string, bytes: Buffer) {
    this.tag = tag
    this.bytes = bytes
    this.#isLarge = bytes.length >= COMPRESSION_THRESHOLD_BYTES
  }

  /**
   * @param data content of the answer.
   * @param maxBytes upper bound of the size of the body, if known.
   */
  static of(data: Json, [before, after]: Envelope, maxBytes?: number): Answer {
    const bytes = jsonBytes([before, data, after], maxBytes)
    return new Answer(weakTag(bytes.subarray(before.length, bytes.length - after.length)), bytes)
  }

  /** Creates a large answer in steps. Other requests run between the steps. */
  static async inTurns(data: Json, [before, after]: Envelope, maxBytes: number): Promise<Answer> {
    const all = Buffer.allocUnsafe(maxBytes)
    let end = all.write(before)
    await forEachYielding(jsonPieces(data), (piece) => {
      all.set(piece, end)
      end += piece.length
    })
    const tag = weakTag(all.subarray(before.length, end))
    return new Answer(tag, all.subarray(0, end + all.write(after, end)))
  }

  /** Size of the uncompressed body, bytes. */
  get size(): number {
    return this.bytes.length
  }

  /**
   * Returns the answer in the best encoding that the client accepts, or as 304 if the client has the answer. Returns a
   * promise only if the body has to be compressed first.
   */
  formFor(method: string, request: IncomingHttpHeaders): AnswerForm | Promise<AnswerForm> {
    if ((method === 'GET' || method === 'HEAD') && namesTag(request['if-none-match'], this.tag))
      return { status: 304, headers: this.#headers(), body: undefined }
    const accepted = this.#isLarge ? request['accept-encoding'] : undefined
    const encoding = negotiateEncoding(accepted ?? '')
    const known = this.#forms.get(encoding)
    if (known) return known
    const form = encoding === 'identity' ? this.#formOf(this.bytes) : this.#compress(encoding)
    this.#forms.set(encoding, form)
    return form
  }

  /** Sends the answer in an encoding that the client accepts, or status 304 if the client already has the answer. */
  async send(context: Context): Promise<void> {
    const form = this.formFor(context.method, context.req.headers)
    const { status, headers, body } = form instanceof Promise ? await form : form
    const { res } = context
    // Send the body without Koa: the answer knows type and length of its body, and Koa takes longer to detect both than
    // to send the body.
    context.respond = false
    res.statusCode = status
    setHeaders(res, headers)
    if (body && context.method !== 'HEAD') res.end(body)
    else res.end()
  }

  #headers(): Record<string, string> {
    const headers: Record<string, string> = { ETag: this.tag }
    if (this.#isLarge) headers.Vary = 'Accept-Encoding'
    return headers
  }

  async #compress(encoding: Encoding): Promise<AnswerForm> {
    const body = await compress(this.bytes, encoding).catch((error: unknown) => {
      // Compression failed: forget the promise, so that the next request tries again.
      this.#forms.delete(encoding)
      throw error
    })
    this.onGrowth?.(body.length)
    const form = this.#formOf(body, encoding)
    this.#forms.set(encoding, form)
    return form
  }

  #formOf(body: Buffer, encoding?: Encoding): AnswerForm {
    const headers = this.#headers()
    headers['Content-Type'] = JSON_TYPE
    headers['Content-Length'] = String(body.length)
    if (encoding !== undefined) headers['Content-Encoding'] = encoding
    return { status: 200, headers, body }
  }
}
