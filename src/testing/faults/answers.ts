/** Answers that a fault proxy gives in the place of the API server. */
import type { Status } from '../../api/status.ts'
import { failure } from '../../api/status.ts'
import type { Fault } from './network.ts'

export type AnswerCode = 429 | 500 | 503

/** What is known of a request before it is passed on. */
export interface ProxiedRequest {
  readonly method: string
  /** Without the query. */
  readonly path: string
  readonly query: URLSearchParams
  readonly userAgent: string
}

export interface AnswerOptions {
  /** The header `Retry-After`, and `details.retryAfterSeconds`. Default: neither. */
  readonly retryAfterSeconds?: number
  /** So many requests are answered; then the fault is over. Default: all, until it is ended. */
  readonly count?: number
  /** Which requests. Default: all. */
  readonly match?: (request: ProxiedRequest) => boolean
  /** The Status' message. Default: what the API server says in such a case. */
  readonly message?: string
}

export interface AnswerFault extends Fault {
  /** How many requests have been answered by this fault. */
  readonly answered: number
}

export interface Answer {
  readonly status: Status
  readonly retryAfterSeconds?: number
}

const reasons: Readonly<Record<AnswerCode, readonly [reason: string, message: string]>> = {
  429: ['TooManyRequests', 'Too many requests, please try again later.'],
  500: ['InternalError', 'Internal error occurred: the fault proxy answers'],
  503: ['ServiceUnavailable', 'the server is currently unable to handle the request'],
}

interface Rule {
  readonly answer: Answer
  readonly match: (request: ProxiedRequest) => boolean
  left: number
  answered: number
}

/** The answers that are asked for; of several that match, the one that was asked for first. */
export class Answers {
  readonly #rules = new Set<Rule>()

  add(code: AnswerCode, { retryAfterSeconds, count = Infinity, match = () => true, message }: AnswerOptions): AnswerFault {
    const [reason, usual] = reasons[code]
    const retry = retryAfterSeconds === undefined ? {} : { retryAfterSeconds }
    const status = failure(code, reason, message ?? usual, retry)
    const rule: Rule = { answer: { status, ...retry }, match, left: count, answered: 0 }
    if (count > 0) this.#rules.add(rule)
    return {
      get answered() {
        return rule.answered
      },
      end: () => void this.#rules.delete(rule),
    }
  }

  /** The answer to a request, undefined when it goes on to the API server. */
  take(request: ProxiedRequest): Answer | undefined {
    for (const rule of this.#rules) {
      if (!rule.match(request)) continue
      rule.left -= 1
      rule.answered += 1
      if (rule.left <= 0) this.#rules.delete(rule)
      return rule.answer
    }
    return undefined
  }

  heal(): void {
    this.#rules.clear()
  }
}
