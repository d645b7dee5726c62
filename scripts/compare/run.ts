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

/** A comparison of two servers. */
export interface CompareSettings {
  readonly baseA: string
  readonly baseB: string
  readonly seed: number
  /** Requests to each server. */
  readonly requests: number
  /** Requests to each server that may begin in a second. */
  readonly perSecond: number
  readonly atOnce: number
  readonly timeoutMs: number
  /** Differences that are expected; the reason of the first that fits is reported. */
  readonly expected?: readonly ExpectedDifference[]
  /** Is called with every answer of the first server. */
  readonly onAnswer?: (path: string, status: number, text: string) => void
}

/** A difference that is expected: every given part has to fit. */
export interface ExpectedDifference {
  readonly why: string
  /** Regular expressions for the endpoint, the field path and the kind, and for the address of the request. */
  readonly endpoint?: string
  readonly path?: string
  readonly kind?: string
  readonly request?: string
}

/** Result of a comparison. */
export interface Comparison {
  /** Requests that both servers answered. */
  readonly compared: number
  /** Requests whose answer of the first server was not empty. */
  readonly withContent: number
  /** Endpoints that the first server documents, those that both servers answered, and those with content at least once. */
  readonly endpoints: { readonly documented: number; readonly asked: number; readonly withContent: number }
  /** Requests that a server did not answer in time, each with what happened. */
  readonly unanswered: readonly string[]
  readonly differences: readonly FoundDifference[]
}

/** The comparison is not possible; the message says why, and what to do. */
export class CannotCompare extends Error {}

/** Path of the description of a server's endpoints. */
const DOCUMENT = '/openapi.json'
/** Requests in a row without an answer after which a server counts as gone. */
const MAX_FAILURES = 20
/** Wait before a request with an unexpected difference is sent again: the servers may have read different blocks. */
const REPEAT_MS = 300
/** Times that it is sent again. */
const MAX_REPEATS = 2

/** Sends the same random requests to two servers and compares the answers. @throws CannotCompare */
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
    const material = await this.#learn(document)
    this.#compareDocuments(document, await this.#check(baseB, 'B'))
    // The endpoints take turns: a short comparison asks each of them as well.
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
    }
  }

  /** Reads what the first server has. */
  async #learn({ text }: Received): Promise<Material> {
    const { baseA } = this.#settings
    let document: OpenApiDocument
    try {
      document = JSON.parse(text) as OpenApiDocument
    } catch {
      throw new CannotCompare(`${baseA}${DOCUMENT} is no JSON: name a server of this program as BASE_A`)
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
        `BASE_${name} ${base} cannot be reached: ${why}. Start it, or correct the address`,
      )
    })
    if (name === 'A' && answer.status !== 200)
      throw new CannotCompare(
        `${url} answers ${answer.status}: BASE_A has to publish its endpoints there. Name a server of this program as BASE_A`,
      )
    return answer
  }

  /** The OpenAPI documents are a promise too; a second server of another program has none. */
  #compareDocuments(a: Received, b: Received): void {
    if (b.status !== 200) return
    this.#add(`GET ${DOCUMENT}`, { method: 'GET', target: DOCUMENT }, answersDiffer(a, b))
  }

  /** Sends a question in every encoding; compares the answers of the servers, and those of the first server. */
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
          own.map((each) => ({ ...each, kind: `${encoding} unlike its address: ${each.kind}` })),
        )
      }
    }
  }

  /** The answers to a request; where they differ unexpectedly, or a server was busy, those to a second one. */
  async #answers(
    question: Question,
    encoded: EncodedQuestion,
  ): Promise<readonly [Received, Received] | undefined> {
    let pair = await this.#sendBoth(encoded)
    for (let left = MAX_REPEATS; left > 0 && pair; left--) {
      if (!pair.some(isBusy) && this.#isExpected(question, encoded, pair)) return pair
      await wait(REPEAT_MS)
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

  /** True when each difference of two answers has a reason. */
  #isExpected(question: Question, encoded: EncodedQuestion, pair: readonly [Received, Received]): boolean {
    return this.#describe(endpointOf(question, encoded), encoded, differ(question, pair)).every(
      ({ reason }) => reason !== undefined,
    )
  }

  /** The differences with their request and their reason, if one is expected. */
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

/** Whether a server says that it has no time for the request. */
function isBusy({ status }: Received): boolean {
  return status === 408 || status === 503
}

function outcome(answer: Received | string): string {
  return typeof answer === 'object' ? String(answer.status) : answer
}
