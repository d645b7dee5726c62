import type { Context } from 'koa'
import { negotiateEncoding, writePieces } from '../../core/http/content/index.ts'
import { forEachYielding, JSON_TYPE, notesOf } from '../../core/http/index.ts'
import { createWeakTag, namesTag, setHeaders } from '../../core/http/headers/index.ts'
import { jsonPieces } from '../json/index.ts'
import type { Json } from '../json/index.ts'
import type { Answer, Envelope } from './answer.ts'

/** Response of an endpoint. The cache stores only responses of the class `Answer`. */
export type AnyAnswer = Answer | LargeAnswer

/**
 * Response of an endpoint with status 200 that is never in memory as a whole. The text is generated in pieces while the
 * client reads.
 */
export class LargeAnswer {
  /** Weak ETag. The hash covers `data` only, as in `Answer`. */
  readonly tag: string
  /** Upper bound of the size of the body before compression, bytes. */
  readonly size: number
  readonly #json: Json

  private constructor(tag: string, size: number, json: Json) {
    this.tag = tag
    this.size = size
    this.#json = json
  }

  /** Creates the response. The text is first generated without being sent, to compute the ETag. */
  static async of(data: Json, [before, after]: Envelope, size: number): Promise<LargeAnswer> {
    const { update, tag } = createWeakTag()
    await forEachYielding(jsonPieces(data), update)
    return new LargeAnswer(tag(), size, [before, data, after])
  }

  /** Sends the answer in an encoding that the client accepts, or status 304 if the client already has the answer. */
  async send(context: Context): Promise<void> {
    const { req, res } = context
    const isHead = context.method === 'HEAD'
    const headers = { ETag: this.tag, Vary: 'Accept-Encoding' }
    context.respond = false
    if ((isHead || context.method === 'GET') && namesTag(req.headers['if-none-match'], this.tag)) {
      res.statusCode = 304
      setHeaders(res, headers)
      res.end()
      return
    }
    const encoding = negotiateEncoding(req.headers['accept-encoding'] ?? '')
    res.statusCode = 200
    setHeaders(res, {
      ...headers,
      'Content-Type': JSON_TYPE,
      ...(encoding === 'identity' ? {} : { 'Content-Encoding': encoding }),
    })
    if (isHead) res.end()
    else notesOf(context).bytes = await writePieces(res, jsonPieces(this.#json), encoding)
  }
}
