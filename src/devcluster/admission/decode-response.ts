/** Decodes the body of a webhook's response. The messages for invalid responses are those of kube-apiserver. */
import type { IncomingHttpHeaders } from 'node:http'
import { parse as parseYaml } from 'yaml'
import { messageOf } from '../../api/errors.ts'
import type { JsonValue } from '../../api/json.ts'
import { isObject, stringifyJson } from '../../api/json.ts'
import { parseJson } from '../../api/json-reader.ts'
import { goNumberTags } from '../../api/yaml-numbers.ts'
import { scanJson } from '../apimachinery/duplicate-keys.ts'
import { replaceLoneSurrogates } from '../apimachinery/lone-surrogates.ts'
import { notAnObject } from '../types/go-json.ts'
import { describeResponse } from './describe-call-error.ts'
import { CallError } from './review.ts'

export interface WebhookResponse {
  readonly statusCode: number
  readonly headers: IncomingHttpHeaders
  /** The value of the `Content-Type` header; empty when the header is missing. */
  readonly contentType: string
  readonly text: string
}

/**
 * Returns the decoded body of the response.
 *
 * @throws {CallError} for a status code outside of 200 to 206, and for a body that is neither an object nor `null`.
 */
export function decodeResponse({ statusCode, contentType, text }: WebhookResponse): JsonValue {
  const failed = (detail: string): CallError => new CallError(`failed to call webhook: ${detail}`)
  if (statusCode < 200 || statusCode > 206) throw failed(describeResponse(statusCode, contentType, text))
  if (text === '') {
    throw failed(`0-length response with status code: ${statusCode} and content type: ${contentType || 'application/json'}`)
  }
  const { value, error } = parseResponse(text)
  if (error !== undefined) throw failed(`couldn't get version/kind; json parse error: ${error}`)
  if (value !== null && !isObject(value)) {
    throw failed(`couldn't get version/kind; json parse error: ${notAnObject(value)}`)
  }
  return value
}

/** Parses JSON or YAML, as kube-apiserver does. A single word is valid YAML, and is parsed as a string. */
function parseResponse(response: string): { value: JsonValue; error?: string } {
  const text = replaceLoneSurrogates(response)
  const { error } = scanJson(text)
  if (error === undefined) return { value: parseJson(text) }
  if (/^\s*[{["]/.test(text)) return { value: null, error }
  try {
    return { value: parseJson(stringifyJson(parseYaml(text, { intAsBigInt: true, customTags: goNumberTags }) ?? null)!) }
  } catch (problem) {
    return { value: null, error: `error converting YAML to JSON: yaml: ${messageOf(problem).split('\n')[0]}` }
  }
}
