import { setTimeout as wait } from 'node:timers/promises'
import { curlCommand } from '../answers/index.ts'
import type { Difference, FoundDifference } from '../answers/index.ts'
import { answersDiffer, hasContent } from './answers-differ.ts'
import { crawl } from './crawl.ts'
import type { OpenApiDocument } from './document.ts'
import { Pace } from './pace.ts'
import type { Choices } from './requests/choices.ts'
import { createChoices } from './requests/choices.ts'
import type { EncodedQuestion, Material, Question } from './requests/questions.ts'
import { drawQuestion, encodeQuestion, encodingsOf, materialOf } from './requests/questions.ts'
import type { Received } from './send.ts'
import { Sender } from './send.ts'
import { targetsOf } from './targets.ts'

/** Settings of a comparison of two servers. */
export interface CompareSettings {
  readonly baseA: string
  readonly baseB: string
  readonly seed: number
  /** Number of requests to each server. */
  readonly requests: number
  /** Rate of requests to each server, per second. */
  readonly perSecond: number
  readonly atOnce: number
  readonly timeoutMs: number
  /** Expected differences. A matching difference is reported with its reason. */
  readonly expected?: readonly ExpectedDifference[]
  /** Called with every answer of the first server. */
  readonly onAnswer?: (path: string, status: number, text: string) => void
  /** Values and records that an earlier comparison found on the same first server: the server is not crawled again. */
  readonly material?: Material | undefined
}

/** Pattern of an expected difference. All given members must match. */
export interface ExpectedDifference {
  readonly why: string
  /**
   * Regular expression for the endpoint. The next members are regular expressions for the field path, the
   * kind of difference, and the URL.
   */
  readonly endpoint?: string
  readonly path?: string
  readonly kind?: string
  readonly request?: string
}

/** Result of the comparison of two servers. */
export interface Comparison {
  /** Number of requests that both servers answered. */
  readonly compared: number
  /** Number of requests for which the first server's answer had content. */
  readonly withContent: number
  /**
   * Numbers of endpoints: endpoints that the first server documents, endpoints that both servers answered, and
   * endpoints whose answer had content at least once.
   */
  readonly endpoints: { readonly documented: number; readonly asked: number; readonly withContent: number }
  /** Requests that a server did not answer in time, with the outcome of both servers. */
  readonly unanswered: readonly string[]
  readonly differences: readonly FoundDifference[]
  /** Values and records of the first server from which the requests were generated. */
  readonly material: Material
}

/** The comparison cannot run; the message has the reason and the remedy. */
export class CannotCompare extends Error {}

/** Path of a server's OpenAPI document. */
const DOCUMENT = '/openapi.json'
/** After this many unanswered requests in a row a server counts as unreachable. */
const MAX_FAILURES = 20
/**
 * A request with an unexpected difference is repeated after this pause, ms: the servers may have been at different
 * blocks.
 */
const REPEAT_MS = 300
/**
 * Limit of repetitions. Each pause is longer by REPEAT_MS than the previous pause, so that the repetitions do not keep
 * step with the blocks of a live chain.
 */
const MAX_REPEATS = 5

/**
 * Sends the same random requests to two servers and compares the answers.
 * @throws CannotCompare
 */
export async function compareServers(settings: CompareSettings): Promise<Comparison> {
  const sender = new Sender(settings)
  try {
    return await new Run(settings, sender).run()
  } finally {
    sender.close()
  }
}

class Run {
  readonly #settings: CompareSettings
  readonly #sender: Sender
  readonly #pace: Pace
  readonly #random: Choices
  readonly #found: FoundDifference[] = []
  readonly #unanswered: string[] = []
  readonly #asked = new Set<string>()
  readonly #full = new Set<string>()
  #sent = 0
  #compared = 0
  #withContent = 0
  #failures = 0

  constructor(settings: CompareSettings, sender: Sender) {
    this.#settings = settings
    this.#sender = sender
    this.#pace = new Pace(settings.perSecond)
    this.#random = createChoices(settings.seed)
  }

  async run(): Promise<Comparison> {
    const { baseA, baseB } = this.#settings
    const document = await this.#check(baseA, 'A')
    this.#compareDocuments(document, await this.#check(baseB, 'B'))
    const material = this.#settings.material ?? (await this.#learn(document))
    // Requests go to all endpoints in turn, so that even a short comparison covers every endpoint.
    let turn = 0
    const work = async (): Promise<void> => {
      while (this.#sent < this.#settings.requests) {
        const target = material.targets[turn++ % material.targets.length]!
        await this.#ask(drawQuestion(target, material, this.#random))
      }
    }
    await Promise.all(Array.from({ length: this.#settings.atOnce }, work))
    return {
      compared: this.#compared,
      withContent: this.#withContent,
      endpoints: {
        documented: material.targets.length,
        asked: this.#asked.size,
        withContent: this.#full.size,
      },
      unanswered: this.#unanswered,
      differences: this.#found,
      material,
    }
  }

  /** Crawls the first server for values and records. */
  async #learn({ text }: Received): Promise<Material> {
    const { baseA } = this.#settings
    let document: OpenApiDocument
    try {
      document = JSON.parse(text) as OpenApiDocument
    } catch {
      throw new CannotCompare(`${baseA}${DOCUMENT} returns no JSON: BASE_A must be a Pronghorn server`)
    }
    const answers = await crawl(baseA, document, async (url) => {
      await this.#pace.turn()
      const { status, text } = await this.#sender.send({ method: 'GET', url })
      return { status, body: text.startsWith('{') ? (JSON.parse(text) as unknown) : text }
    })
    return materialOf(targetsOf(document), answers)
  }

  async #check(base: string, name: 'A' | 'B'): Promise<Received> {
    const url = base + DOCUMENT
    const answer = await this.#sender.send({ method: 'GET', url }).catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error)
      throw new CannotCompare(
        `BASE_${name} ${base} cannot be reached: ${why}. Start the server, or correct the address`,
      )
    })
    if (name === 'A' && answer.status !== 200)
      throw new CannotCompare(
        `${url} answers ${answer.status} instead of the OpenAPI document: BASE_A must be a Pronghorn server`,
      )
    return answer
  }

  /**
   * Compares the OpenAPI documents of both servers, because the documents are part of the API. Nothing is
   * compared if the second server has no document.
   */
  #compareDocuments(a: Received, b: Received): void {
    if (b.status !== 200) return
    this.#add(`GET ${DOCUMENT}`, { method: 'GET', target: DOCUMENT }, answersDiffer(a, b))
  }

  /**
   * Sends a request in every encoding. Compares the answers of the two servers, and the first server's answers to the
   * different encodings.
   */
  async #ask(question: Question): Promise<void> {
    let byAddress: Received | undefined
    for (const encoding of encodingsOf(question)) {
      if (this.#sent >= this.#settings.requests) return
      this.#sent++
      const encoded = encodeQuestion(question, encoding, this.#random)
      const pair = await this.#answers(question, encoded)
      if (!pair) continue
      const differences = differ(question, pair)
      this.#count(question, pair[0])
      this.#add(endpointOf(question, encoded), encoded, differences)
      if (encoding === 'address') [byAddress] = pair
      else if (byAddress) {
        const own = answersDiffer(byAddress, pair[0], { bodyOnly: true })
        this.#add(
          endpointOf(question, encoded),
          encoded,
          own.map((each) => ({
            ...each,
            kind: `${encoding} request answered unlike the same parameters in the URL: ${each.kind}`,
          })),
        )
      }
    }
  }

  /** Sends a request to both servers. Repeats it if the answers differ unexpectedly or a server is busy. */
  async #answers(
    question: Question,
    encoded: EncodedQuestion,
  ): Promise<readonly [Received, Received] | undefined> {
    let pair = await this.#sendBoth(encoded)
    for (let repeat = 1; repeat <= MAX_REPEATS && pair; repeat++) {
      if (!pair.some(isBusy) && this.#isExpected(question, encoded, pair)) return pair
      await wait(repeat * REPEAT_MS)
      pair = await this.#sendBoth(encoded)
    }
    if (!pair?.some(isBusy)) return pair
    this.#miss(encoded, ...pair)
    return undefined
  }

  #miss({ target, ...request }: EncodedQuestion, a: Received | string, b: Received | string): void {
    const command = curlCommand({ ...request, url: this.#settings.baseA + target })
    this.#unanswered.push(`${command}: A ${outcome(a)}, B ${outcome(b)}`)
  }

  async #sendBoth(encoded: EncodedQuestion): Promise<readonly [Received, Received] | undefined> {
    const { target, ...request } = encoded
    await this.#pace.turn()
    const { baseA, baseB } = this.#settings
    const [a, b] = await Promise.all(
      [baseA, baseB].map((base) =>
        this.#sender.send({ ...request, url: base + target }).catch((error: unknown) => String(error)),
      ),
    )
    for (const [base, answer] of [
      [baseA, a],
      [baseB, b],
    ] as const) {
      if (typeof answer === 'object' && answer.status === 429)
        throw new CannotCompare(`${base} answers 429: lower --rate, or allow more requests from this machine`)
    }
    if (typeof a === 'object' && typeof b === 'object') {
      this.#failures = 0
      return [a, b]
    }
    this.#miss(encoded, a!, b!)
    if (++this.#failures >= MAX_FAILURES)
      throw new CannotCompare(
        `${MAX_FAILURES} requests in a row were not answered (A ${outcome(a!)}, B ${outcome(b!)}): check the servers, or raise --timeout`,
      )
    return undefined
  }

  #count({ target: { documentPath } }: Question, answer: Received): void {
    this.#compared++
    this.#asked.add(documentPath)
    if (hasContent(answer)) {
      this.#withContent++
      this.#full.add(documentPath)
    }
    this.#settings.onAnswer?.(documentPath, answer.status, answer.text)
  }

  #add(endpoint: string, encoded: EncodedQuestion, differences: readonly Difference[]): void {
    this.#found.push(...this.#describe(endpoint, encoded, differences))
  }

  /** Whether all differences between two answers are expected. */
  #isExpected(question: Question, encoded: EncodedQuestion, pair: readonly [Received, Received]): boolean {
    return this.#describe(endpointOf(question, encoded), encoded, differ(question, pair)).every(
      ({ reason }) => reason !== undefined,
    )
  }

  /**
   * Adds endpoint, command and reason to each difference; the reason of an unexpected difference is
   * undefined.
   */
  #describe(
    endpoint: string,
    encoded: EncodedQuestion,
    differences: readonly Difference[],
  ): FoundDifference[] {
    const { target, ...request } = encoded
    const command = curlCommand({ ...request, url: this.#settings.baseA + target })
    return differences.map((difference) => {
      const found = { ...difference, endpoint, command }
      return { ...found, reason: this.#reasonOf(found) }
    })
  }

  #reasonOf(found: FoundDifference): string | undefined {
    const parts = { endpoint: found.endpoint, path: found.path, kind: found.kind, request: found.command }
    const names = ['endpoint', 'path', 'kind', 'request'] as const
    return this.#settings.expected?.find((each) =>
      names.every((name) => each[name] === undefined || new RegExp(each[name]).test(parts[name])),
    )?.why
  }
}

function endpointOf({ target }: Question, { method }: EncodedQuestion): string {
  return `${method} ${target.documentPath}`
}

function differ(question: Question, [a, b]: readonly [Received, Received]): Difference[] {
  return answersDiffer(a, b, { isVolatile: question.target.isVolatile })
}

/** Whether a server refused the request because it is overloaded. */
function isBusy({ status }: Received): boolean {
  return status === 408 || status === 503
}

function outcome(answer: Received | string): string {
  return typeof answer === 'object' ? String(answer.status) : answer
}
