/** Responses that a fault proxy sends instead of forwarding a request to the API server. */
import type { OptionCheck } from '../../api/option-checks.ts'
import { expect, hasOptions, isDelay, isFunction, isText, refuseOptions } from '../../api/option-checks.ts'
import type { Status } from '../../api/status.ts'
import { failure } from '../../api/status.ts'
import type { Fault } from './network.ts'

/** The HTTP status codes of the failures that a fault can simulate. */
export type AnswerCode = 400 | 401 | 403 | 404 | 409 | 410 | 422 | 429 | 500 | 503 | 504

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
  /** The `message` of the Status. Default: a message for the status code, similar to the message of kube-apiserver. */
  readonly message?: string
}

const checkOptions = hasOptions({
  retryAfterSeconds: isDelay,
  count: expect('a number of at least 0', (value) => typeof value === 'number' && value >= 0),
  match: isFunction,
  message: isText,
} satisfies Record<keyof AnswerOptions, OptionCheck>)

export interface AnswerFault extends Fault {
  /** The number of requests that have received the response of this fault. */
  readonly answered: number
}

export interface Answer {
  readonly status: Status
  readonly retryAfterSeconds?: number
}

const reasons: Readonly<Record<AnswerCode, readonly [reason: string, message: string]>> = {
  400: ['BadRequest', 'the server rejected our request for an unknown reason'],
  401: ['Unauthorized', 'Unauthorized'],
  403: ['Forbidden', 'forbidden: the fault proxy answers'],
  404: ['NotFound', 'the server could not find the requested resource'],
  409: [
    'Conflict',
    'Operation cannot be fulfilled: the object has been modified; please apply your changes to the latest version and try again',
  ],
  410: ['Expired', 'The resourceVersion for the provided watch is too old.'],
  422: ['Invalid', 'the server rejected our request due to an error in our request'],
  429: ['TooManyRequests', 'Too many requests, please try again later.'],
  500: ['InternalError', 'Internal error occurred: the fault proxy answers'],
  503: ['ServiceUnavailable', 'the server is currently unable to handle the request'],
  504: ['Timeout', 'the server was unable to return a response in the time allotted, but may still be processing the request'],
}

const isCode: OptionCheck = expect(
  `one of ${Object.keys(reasons).join(', ')}`,
  (value) => typeof value === 'number' && Object.hasOwn(reasons, value),
)

interface Rule {
  readonly answer: Answer
  readonly match: (request: ProxiedRequest) => boolean
  left: number
  answered: number
}

/** The active faults. When several faults match a request, the oldest fault determines the response. */
export class Answers {
  readonly #rules = new Set<Rule>()

  /** @throws {ProreusError} `PRO_CONFIG_INVALID` when `code` is not an `AnswerCode`, or when an option is invalid or unknown. */
  add(code: AnswerCode, options: AnswerOptions): AnswerFault {
    refuseOptions('proxy.answer', [...isCode(code, 'code'), ...checkOptions(options, '')])
    const { retryAfterSeconds, count = Infinity, match = () => true, message } = options
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
