import type { Context } from 'koa'
import { negotiateEncoding, writePieces } from '../../core/http/content/index.ts'
import { forEachYielding, JSON_TYPE, notesOf } from '../../core/http/index.ts'
import { createWeakTag, namesTag, setHeaders } from '../../core/http/headers/index.ts'
import { jsonPieces } from '../json/index.ts'
import type { Json } from '../json/index.ts'
import type { Answer, Envelope } from './answer.ts'

/** An answer; a large one is not cached. */
export type AnyAnswer = Answer | LargeAnswer

/** An answer of an endpoint, status 200, whose text is never in memory as a whole: it is written in pieces, as the client reads them. */
export class LargeAnswer {
  /** As that of `Answer`. */
  readonly tag: string
  /** Most bytes of the body, before compression. */
  readonly size: number
  readonly #json: Json

  private constructor(tag: string, size: number, json: Json) {
    this.tag = tag
    this.size = size
    this.#json = json
  }

  /** Writes all of it once, to nowhere, for its tag. */
  static async of(data: Json, [before, after]: Envelope, size: number): Promise<LargeAnswer> {
    const { update, tag } = createWeakTag()
    await forEachYielding(jsonPieces(data), update)
    return new LargeAnswer(tag(), size, [before, data, after])
  }

  /** Sends it as the client accepts it, or 304 when the client has it. */
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
