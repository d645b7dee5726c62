import { Busboy } from '@fastify/busboy'
import type { BusboyInstance } from '@fastify/busboy'
import { RequestError } from '../../core/http/index.ts'
import type { RawValue } from '../request/index.ts'
import { MAX_PAIRS, ParameterCollector } from '../request/index.ts'

/** Maximum number of header lines of one part of a multipart body. */
const MAX_HEADERS = 20

/**
 * Reads the fields of a `multipart/form-data` body. The common size limit of bodies applies.
 * @param type value of `Content-Type`, which contains the boundary.
 * @throws RequestError 400 malformed or too many fields, 415 for a file.
 */
export function parseMultipart(text: string, type: string): Promise<Map<string, RawValue>> {
  const collector = new ParameterCollector()
  return new Promise((resolve, reject) => {
    const refuse = (status: number, message: string): void => {
      reject(new RequestError(status, message))
    }
    const malformed = (): void => {
      refuse(
        400,
        'The body is no multipart/form-data with the boundary of its Content-Type; send the parameters as JSON',
      )
    }
    let form: BusboyInstance
    try {
      form = new Busboy({
        headers: { 'content-type': type },
        limits: {
          fieldSize: Buffer.byteLength(text),
          fields: MAX_PAIRS,
          headerPairs: MAX_HEADERS,
        },
      })
    } catch {
      malformed()
      return
    }
    form.on('field', (name, value) => {
      collector.add(name, value)
    })
    form.on('file', (name, stream) => {
      stream.resume()
      refuse(
        415,
        `The field ${name.slice(0, MAX_SHOWN)} is a file, but parameters are text: send the value as text`,
      )
    })
    form.on('fieldsLimit', () => {
      refuse(400, `The body has more than ${MAX_PAIRS} fields: send fewer`)
    })
    form.on('error', malformed)
    form.on('finish', () => {
      resolve(collector.parameters)
    })
    form.end(text)
  })
}

/** Maximum number of characters of a field name in an error message. */
const MAX_SHOWN = 60
