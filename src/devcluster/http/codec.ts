/** Request bodies: reading them within limits, and decoding JSON and YAML without losing what Kubernetes wants to know. */
import type { IncomingMessage } from 'node:http'
import { LineCounter, isAlias, isMap, isPair, isScalar, isSeq, parseDocument } from 'yaml'
import type { JsonValue } from '../../api/json.ts'
import { messageOf } from '../../api/errors.ts'
import { failure } from '../../api/status.ts'
import { StatusError, badRequest, unsupportedMediaType } from '../registry/status-error.ts'
import { maxDepth, scanJson } from './duplicate-keys.ts'

/** The API server's limit for a request (k8s.io/apiserver `pkg/server/config.go`, MaxRequestBodyBytes). */
export const maxBodyBytes = 3 * 1024 * 1024

/** How `runtime.Unknown` in protobuf begins. */
const protobufMagic = Buffer.from([0x6b, 0x38, 0x73, 0x00])

/** A body as plain JSON; `duplicates` are the keys that stood twice: their paths in JSON, texts with their lines in YAML. */
export interface DecodedBody {
  readonly value: JsonValue
  readonly duplicates: readonly string[]
}

/** Reads the whole body. Throws 413 as soon as it is known to be too long. */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const tooLarge = (): StatusError =>
    new StatusError(failure(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${maxBodyBytes}`))
  if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes) throw tooLarge()
  const chunks: Buffer[] = []
  let size = 0
  try {
    // Without destroying the request, or the answer would go with it.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > maxBodyBytes) throw tooLarge()
      chunks.push(chunk)
    }
  } catch (error) {
    if (error instanceof StatusError) throw error
    throw badRequest(`the request ended before its body did: ${messageOf(error)}`)
  }
  return Buffer.concat(chunks, size)
}

/** The media type of a `Content-Type` header, without parameters. A missing one is JSON. */
export function mediaTypeOf(header: string | undefined): string {
  const type = header?.split(';')[0]?.trim().toLowerCase() ?? ''
  return type === '' ? 'application/json' : type
}

/**
 * Decodes an object's body.
 *
 * @param kind how error texts call what should have been there
 * @throws {StatusError} 400 for what cannot be read, 415 for another media type.
 */
export function decodeObject(body: Buffer, contentType: string | undefined, kind: string): DecodedBody {
  const type = mediaTypeOf(contentType)
  if (type === 'application/vnd.kubernetes.protobuf' || body.subarray(0, 4).equals(protobufMagic)) throw protobufRefused()
  if (type === 'application/yaml') return decodeYaml(body, (text) => unrecognized(kind, text, body))
  if (type !== 'application/json') throw unknownMediaType('application/json, application/yaml')
  return decodeJson(body, (text) => unrecognized(kind, `couldn't get version/kind; json parse error: ${text}`, body))
}

/** Decodes JSON; `refuse` makes the error of the words of Go's decoder. */
export function decodeJson(body: Buffer, refuse: (text: string) => StatusError): DecodedBody {
  const text = body.toString('utf8')
  const { duplicates, error } = scanJson(text)
  if (error !== undefined) throw refuse(error)
  return { value: JSON.parse(text) as JsonValue, duplicates }
}

/** Decodes YAML, of which JSON is a part: what looks like JSON is read as such, whose errors and duplicates are exact. */
export function decodeYaml(body: Buffer, refuse: (text: string) => StatusError): DecodedBody {
  const text = body.toString('utf8')
  if (/^\s*\{/.test(text)) {
    const { duplicates, error } = scanJson(text)
    if (error === undefined && duplicates.length === 0) return { value: JSON.parse(text) as JsonValue, duplicates }
  }
  try {
    // 1.1 is what Kubernetes reads (`yes` is true); times stay strings there. Duplicate keys are for fieldValidation to judge.
    const lines = new LineCounter()
    const document = parseDocument(text, {
      lineCounter: lines,
      version: '1.1',
      uniqueKeys: false,
      customTags: (tags) => tags.filter((tag) => typeof tag === 'string' || tag.tag !== 'tag:yaml.org,2002:timestamp'),
    })
    const problem = document.errors[0]
    if (problem !== undefined) throw problem
    const duplicates = new Set<string>()
    findDuplicates(document.contents, lines, duplicates, 0)
    // Through JSON: what is left is plain data, whatever YAML can say.
    return { value: JSON.parse(JSON.stringify(document.toJS() ?? null)) as JsonValue, duplicates: [...duplicates] }
  } catch (error) {
    if (error instanceof StatusError) throw error
    throw refuse(`error converting YAML to JSON: yaml: ${messageOf(error).split('\n')[0]}`)
  }
}

/** Adds a text for each key that stands twice in a map, as the API server's YAML decoder has it. */
function findDuplicates(node: unknown, lines: LineCounter, duplicates: Set<string>, depth: number): void {
  if (depth > maxDepth) throw new RangeError('exceeded max depth')
  // An alias repeats what is looked at where it was anchored.
  if (isAlias(node)) return
  if (isSeq(node)) {
    for (const item of node.items) findDuplicates(item, lines, duplicates, depth + 1)
  } else if (isMap(node)) {
    const keys = new Set<string>()
    for (const pair of node.items) {
      if (!isPair(pair)) continue
      const key = isScalar(pair.key) ? String(pair.key.value) : String(pair.key)
      if (keys.has(key)) {
        const offset = isScalar(pair.key) ? (pair.key.range?.[0] ?? 0) : 0
        duplicates.add(`line ${lines.linePos(offset).line}: key ${JSON.stringify(key)} already set in map`)
      }
      keys.add(key)
      findDuplicates(pair.value, lines, duplicates, depth + 1)
    }
  }
}

/** 415 in the API server's words. */
export function unknownMediaType(accepted: string): StatusError {
  return unsupportedMediaType(`the body of the request was in an unknown format - accepted media types include: ${accepted}`)
}

function protobufRefused(): StatusError {
  return unsupportedMediaType(
    'this API server reads JSON and YAML, not protobuf: send the object from a file instead, ' +
      'for instance with "kubectl create … --dry-run=client -o yaml | kubectl create -f -"',
  )
}

/** 400 for a body that is no object of the kind. */
function unrecognized(kind: string, problem: string, body: Buffer): StatusError {
  return badRequest(`the object provided is unrecognized (must be of type ${kind}): ${problem} (${summaryOf(body)})`)
}

/** The beginning of a body as the API server quotes it: hexadecimal unless it looks like JSON. */
function summaryOf(body: Buffer): string {
  if (body.length === 0) return '<empty>'
  const start = body.subarray(0, 30)
  return `${body[0] === 0x7b ? start.toString('utf8') : start.toString('hex')}${body.length > start.length ? ' ...' : ''}`
}
