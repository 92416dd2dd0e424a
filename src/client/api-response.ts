/** `ApiResponse`: a response of the API server. A JSON body is parsed. */
import { ProreusError } from '../api/errors.ts'
import { parseJson } from '../api/json-reader.ts'
import type { ApiRequest } from './api-request.ts'

export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>

export interface ApiResponse {
  readonly statusCode: number
  readonly headers: ResponseHeaders
  /**
   * If the content type is JSON, the parsed body, in which an integer between 2^53 and 2^63 is a `bigint`. For any other content type, the
   * text of the body.
   */
  readonly body: unknown
}

/**
 * Returns the body of the response to `request`. If the content type is JSON, the result is the parsed body. For any other content type,
 * the result is the text of the body.
 */
export function bodyOf(headers: ResponseHeaders, text: string, request: ApiRequest): unknown {
  if (!isJson(headers)) return text
  try {
    return parseJson(text)
  } catch (cause) {
    throw new ProreusError('PRO_API', `The API server's answer to ${request.method} ${request.path} is not valid JSON.`, { cause })
  }
}

function isJson(headers: ResponseHeaders): boolean {
  const type = headers['content-type']
  return typeof type === 'string' && /^application\/([\w.-]+\+)?json\b/i.test(type)
}
