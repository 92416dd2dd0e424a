/**
 * The responses to requests that are rejected before the webhook decides. The client receives a plain-text message, and a line is logged.
 */
import type { FastifyReply } from 'fastify'
import { MalformedConversionReview } from '../../conversion/review-scan.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { BodyRefused } from '../body/body-refused.ts'
import { MalformedReview } from '../review/admission-review.ts'

interface Refusal {
  readonly path: string
  readonly logger: Logger
  /** Called with the HTTP status of the response. */
  readonly onRefused: (code: number) => void
}

/** Rejects a request: responds with a status code and a message, and logs the error. */
export function refuse(
  reply: Pick<FastifyReply, 'header' | 'code'>,
  error: Error & { readonly statusCode?: number },
  { path, logger, onRefused }: Refusal,
): FastifyReply {
  const code = codeOf(error)
  onRefused(code)
  // The API server retries after this number of seconds, until its own timeout has passed.
  if (code === 429) reply.header('retry-after', '1')
  const text = textFor(code, error)
  if (code >= 500) logger.error({ err: error, path }, 'a request could not be answered')
  else logger.info({ code, path }, `refused a request: ${text}`)
  return reply.code(code).type('text/plain; charset=utf-8').send(`${text}\n`)
}

function codeOf(error: Error & { readonly statusCode?: number }): number {
  if (error instanceof BodyRefused) return error.code
  return error instanceof MalformedReview || error instanceof MalformedConversionReview ? 400 : (error.statusCode ?? 500)
}

function textFor(code: number, error: Error): string {
  switch (code) {
    case 415:
      return 'The Content-Type must be application/json.'
    case 500:
      return 'Internal error.'
    default:
      return error.message
  }
}
