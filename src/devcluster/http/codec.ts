/**
 * Reads request bodies with a size limit, and decodes JSON, YAML and protobuf. The result of the decoding contains the decoded value and a
 * list of the duplicate keys in the body.
 */
import type { IncomingMessage } from 'node:http'
import { Lexer, LineCounter, isAlias, isMap, isPair, isScalar, isSeq, parseDocument } from 'yaml'
import { messageOf } from '../../api/errors.ts'
import { parseApiVersion } from '../../api/group-version-kind.ts'
import type { JsonValue } from '../../api/json.ts'
import { stringifyJson } from '../../api/json.ts'
import { parseJson } from '../../api/json-reader.ts'
import { failure } from '../../api/status.ts'
import { goNumberTags } from '../../api/yaml-numbers.ts'
import type { TypeMeta } from '../protobuf/decode-object.ts'
import { UnreadableObject, decodeProtobufObject } from '../protobuf/decode-object.ts'
import { ProtobufError } from '../protobuf/wire-reader.ts'
import { StatusError, badRequest, unsupportedMediaType } from '../apimachinery/status-error.ts'
import { maxDepth, scanJson } from '../apimachinery/duplicate-keys.ts'
import { hasSurrogateEscape, replaceLoneSurrogates } from '../apimachinery/lone-surrogates.ts'

/** Maximum size of a request body in bytes (k8s.io/apiserver/pkg/server: config.go, MaxRequestBodyBytes). */
const maxBodyBytes = 3 * 1024 * 1024

const protobufType = 'application/vnd.kubernetes.protobuf'

/** Media types of a request body that contains an object. */
const objectTypes = ['application/json', 'application/yaml', protobufType]

/** A body, decoded to plain JSON. */
export interface DecodedBody {
  readonly value: JsonValue
  /**
   * The duplicate keys of the body. For a JSON body, these are the paths of the keys. For a YAML body, these are error messages with line
   * numbers.
   */
  readonly duplicates: readonly string[]
  /** The first number of a JSON body that is beyond the range of a float, such as `1e400`. */
  readonly outOfRange?: string
}

/** Reads the whole body. Rejects with 413 as soon as the body exceeds the limit, and with 400 when the body is incomplete. */
export function readBody(request: IncomingMessage): Promise<Buffer> {
  const tooLarge = (): StatusError =>
    new StatusError(failure(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${maxBodyBytes}`))
  if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes) return Promise.reject(tooLarge())
  // Event listeners are faster than an async iterator. After an error, an async iterator would also destroy the request and its socket.
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const add = (chunk: Buffer): void => {
      size += chunk.length
      chunks.push(chunk)
      if (size <= maxBodyBytes) return
      request.off('data', add).pause()
      reject(tooLarge())
    }
    const incomplete = (error?: Error): void => reject(badRequest(`the request body is incomplete: ${messageOf(error ?? 'closed')}`))
    const complete = (): void => {
      request.off('close', incomplete)
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size))
    }
    // If the client has already disconnected, the request emits no further event.
    if (request.destroyed) return incomplete()
    request.on('data', add).once('end', complete).once('error', incomplete).once('close', incomplete)
  })
}

/** Returns the media type of a `Content-Type` header, without parameters; JSON when the header is missing. */
export function mediaTypeOf(header: string | undefined): string {
  const type = header?.split(';')[0]?.trim().toLowerCase() ?? ''
  return type === '' ? 'application/json' : type
}

/** The type that the object in a request body is expected to have. */
export interface ExpectedType extends TypeMeta {
  /** True for a custom resource, for which protobuf is not supported. */
  readonly custom?: boolean
  /** True to preserve all digits of integers beyond 2^53. Only custom resources and CRDs can have such integers. */
  readonly exact?: boolean
}

/**
 * Decodes the object in a request body.
 *
 * @throws {StatusError} 400 for an invalid body, 413 for YAML with too many tokens, 415 for an unsupported media type.
 */
export function decodeObject(body: Buffer, contentType: string | undefined, expected: ExpectedType): DecodedBody {
  const { kind, custom = false, exact = false } = expected
  const type = mediaTypeOf(contentType)
  if (type === protobufType && !custom) return decodeProtobuf(body, expected, (text) => unrecognized(kind, text, body))
  if (type === 'application/yaml') return decodeYaml(body, (text) => unrecognized(kind, text, body), exact)
  if (type !== 'application/json') throw unknownMediaType(objectTypes.filter((name) => name !== type))
  return decodeJson(body, (text) => unrecognized(kind, `couldn't get version/kind; json parse error: ${text}`, body), exact)
}

/**
 * Decodes options in a request body, such as DeleteOptions. Unlike in `decodeObject`, the errors for JSON and protobuf do not quote the
 * body.
 */
export function decodeOptions(body: Buffer, contentType: string | undefined, expected: TypeMeta): DecodedBody {
  const type = mediaTypeOf(contentType)
  if (type === 'application/json') return decodeJson(body, (text) => badRequest(`couldn't get version/kind; json parse error: ${text}`))
  if (type !== protobufType) return decodeObject(body, contentType, expected)
  try {
    return { value: decodeProtobufObject(body, expected), duplicates: [] }
  } catch (error) {
    throw error instanceof ProtobufError ? badRequest(error.message) : error
  }
}

function decodeProtobuf(body: Buffer, expected: TypeMeta, refuse: (text: string) => StatusError): DecodedBody {
  try {
    return { value: decodeProtobufObject(body, expected), duplicates: [] }
  } catch (error) {
    if (error instanceof UnreadableObject) {
      const { version } = parseApiVersion(error.type.apiVersion)
      throw badRequest(`${error.type.kind} in version "${version}" cannot be handled as a ${expected.kind}: ${error.message}`)
    }
    throw error instanceof ProtobufError ? refuse(error.message) : error
  }
}

/** Decodes JSON. If the JSON is invalid, calls `refuse` with the message of Go's decoder, and throws the error that `refuse` returns. */
export function decodeJson(body: Buffer, refuse: (text: string) => StatusError, exact = false): DecodedBody {
  const text = replaceLoneSurrogates(body.toString('utf8'))
  const { error, ...found } = scanJson(text)
  if (error !== undefined) throw refuse(error)
  return { value: parse(text, exact), ...found }
}

function parse(text: string, exact: boolean): JsonValue {
  return exact ? parseJson(text) : (JSON.parse(text) as JsonValue)
}

/**
 * Decodes YAML, which includes JSON. A body that starts with `{` is parsed as JSON if it is valid JSON, has no duplicate keys, has no
 * escapes of surrogates such as `\ud800`, and has no numbers beyond the range of a float.
 */
export function decodeYaml(body: Buffer, refuse: (text: string) => StatusError, exact = false): DecodedBody {
  const text = body.toString('utf8')
  if (/^\s*\{/.test(text) && !hasSurrogateEscape(text)) {
    const { duplicates, error, outOfRange } = scanJson(text)
    // In YAML, a number beyond the range of a float is a string. A body with such a number is therefore not parsed as JSON here.
    if (error === undefined && outOfRange === undefined && duplicates.length === 0) return { value: parse(text, exact), duplicates }
  }
  checkTokens(text)
  try {
    // Kubernetes reads YAML 1.1 (`yes` is true), except that timestamps are strings. The parser accepts duplicate keys, because
    // `fieldValidation` decides whether duplicate keys are errors.
    const lines = new LineCounter()
    const document = parseDocument(text, {
      lineCounter: lines,
      version: '1.1',
      uniqueKeys: false,
      intAsBigInt: exact,
      customTags: (tags) => goNumberTags(tags).filter((tag) => typeof tag === 'string' || tag.tag !== 'tag:yaml.org,2002:timestamp'),
    })
    // kube-apiserver decodes only the first document of the YAML. Further documents are therefore no error.
    const problem = document.errors.find(({ code }) => code !== 'MULTIPLE_DOCS')
    if (problem !== undefined) throw problem
    const duplicates = new Set<string>()
    findDuplicates(document.contents, lines, duplicates, 0)
    // A conversion to JSON and back removes the special values of YAML tags such as `!!set`. Only plain data remains.
    const json = stringifyJson(document.toJS() ?? null)!
    if (replaceLoneSurrogates(json) !== json) throw new Error('found invalid Unicode character escape code')
    return { value: parse(json, exact), duplicates: [...duplicates] }
  } catch (error) {
    if (error instanceof StatusError) throw error
    throw refuse(`error converting YAML to JSON: yaml: ${messageOf(error).split('\n')[0]}`)
  }
}

/** Maximum number of YAML tokens. The parser needs about a second for this number of tokens, and the longest CRDs have fewer tokens. */
const maxYamlTokens = 250_000

function checkTokens(text: string): void {
  // For one character, the lexer returns at most two tokens: the character itself, and a marker. A short text therefore cannot exceed the
  // limit, and its tokens are not counted.
  if (text.length <= maxYamlTokens / 2) return
  let left = maxYamlTokens
  for (const _token of new Lexer().lex(text)) {
    left -= 1
    if (left < 0) {
      const message = `Request entity too large: limit of YAML is ${maxYamlTokens} tokens; send it as JSON without duplicate keys`
      throw new StatusError(failure(413, 'RequestEntityTooLarge', message))
    }
  }
}

/** Adds a message for each duplicate key in a map, in the format of kube-apiserver's YAML decoder. */
function findDuplicates(node: unknown, lines: LineCounter, duplicates: Set<string>, depth: number): void {
  if (depth > maxDepth) throw new RangeError('exceeded max depth')
  // An alias is skipped. The node to which the alias refers is elsewhere in the document, and is checked there.
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

/** Returns kube-apiserver's error 415 for an unsupported media type. */
export function unknownMediaType(accepted: readonly string[]): StatusError {
  return unsupportedMediaType(`the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`)
}

/** Returns the error 400 for a body that is not an object of the kind (k8s.io/apiserver/pkg/endpoints/handlers: transformDecodeError). */
export function unrecognized(kind: string, problem: string, body: Buffer): StatusError {
  return badRequest(`the object provided is unrecognized (must be of type ${kind}): ${problem} (${summaryOf(body)})`)
}

/**
 * Quotes the beginning of a body. A body that starts with `{` is quoted as text, and any other body in hexadecimal
 * (k8s.io/apiserver/pkg/endpoints/handlers: summarizeData).
 */
function summaryOf(body: Buffer): string {
  if (body.length === 0) return '<empty>'
  const start = body.subarray(0, 30)
  return `${body[0] === 0x7b ? start.toString('utf8') : start.toString('hex')}${body.length > start.length ? ' ...' : ''}`
}
