/** Responses that a fault proxy sends instead of forwarding a request to the API server. */
import type { Status } from '../../api/status.ts'
import { failure } from '../../api/status.ts'
import type { Fault } from './network.ts'

export type AnswerCode = 429 | 500 | 503

/** A request that the fault proxy has received and not yet forwarded. */
export interface ProxiedRequest {
  readonly method: string
  /** The path without the query. */
  readonly path: string
  readonly query: URLSearchParams
  readonly userAgent: string
}

export interface AnswerOptions {
  /** The value of the header `Retry-After` and of `details.retryAfterSeconds`. Default: the response has neither. */
  readonly retryAfterSeconds?: number
  /** The number of matching requests after which the fault ends. Default: no limit. */
  readonly count?: number
  /** Selects the requests that get this response. Default: all. */
  readonly match?: (request: ProxiedRequest) => boolean
  /** The `message` of the Status. Default: kube-apiserver's message for this code. */
  readonly message?: string
}

export interface AnswerFault extends Fault {
  /** The number of requests that have received the response of this fault. */
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

/** The active faults. When several match a request, the oldest one determines the response. */
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

  /** Returns the response of the first fault that matches the request; undefined when the request must be forwarded to the API server. */
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
