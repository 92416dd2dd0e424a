/** Content negotiation by the `Accept` header. */
import { failure } from '../../api/status.ts'
import { StatusError } from '../apimachinery/status-error.ts'

export type Encoding = 'json' | 'yaml'

/** The form of an object, list or watch event in a response. */
export type Form = { readonly encoding: Encoding } & (
  | { readonly as: 'object' }
  | { readonly as: 'table'; readonly version: 'v1' | 'v1beta1' }
  | { readonly as: 'partial'; readonly version: 'v1' | 'v1beta1'; readonly kind: 'PartialObjectMetadata' | 'PartialObjectMetadataList' }
)

export interface MediaRange {
  readonly type: string
  readonly parameters: Readonly<Record<string, string>>
}

/** Parses an `Accept` header into media types. The preferred media type comes first. A missing header accepts all media types. */
export function parseAccept(header: string | undefined): readonly MediaRange[] {
  if (header === undefined || header.trim() === '') return [{ type: '*/*', parameters: {} }]
  const ranges = header.split(',').map((part) => {
    const [type = '', ...rest] = part.split(';').map((piece) => piece.trim())
    const parameters = Object.fromEntries(
      rest.map((pair): [string, string] => [pair.split('=')[0]!.trim(), pair.slice(pair.indexOf('=') + 1).trim()]),
    )
    return { type: type.toLowerCase(), parameters }
  })
  // Types with weight 0 are sorted last, but not excluded, as in kube-apiserver.
  const weight = (range: MediaRange): number => (range.parameters.q === undefined ? 1 : Number(range.parameters.q) || 0)
  return ranges.sort((a, b) => weight(b) - weight(a))
}

/** The forms in which the server can send a response. */
export interface Offers {
  /**
   * True when the response can be a table or PartialObjectMetadata. The response to a review, such as a SubjectAccessReview, can be
   * neither.
   */
  readonly transformations?: boolean
  /** True for watches, which cannot be YAML. */
  readonly stream?: boolean
  /**
   * The kind of route by which kube-apiserver serves the response. The kind determines which parts of kube-apiserver check the Accept
   * header:
   *
   * - `object` and `collection`: first the router (go-restful), then the handler.
   * - `document`: only the handler.
   * - undefined, for a custom resource: only the handler. The response has no protobuf form.
   */
  readonly route?: 'object' | 'collection' | 'document'
}

const protobuf = 'application/vnd.kubernetes.protobuf'
const produced = ['application/json', 'application/yaml', protobuf]
const streamed = ['application/json;stream=watch', `${protobuf};stream=watch`]

/**
 * Chooses the encoding of a response (JSON or YAML), and its content (the full object, a table or PartialObjectMetadata) by the `Accept`
 * header (k8s.io/apiserver/pkg/endpoints/handlers/negotiation: NegotiateMediaTypeOptions).
 *
 * @throws {StatusError} 406 when kube-apiserver accepts no media type of the header.
 */
export function negotiate(header: string | undefined, { transformations = false, stream = false, route }: Offers): Form {
  const ranges = parseAccept(header)
  if (route !== undefined && route !== 'document' && !ranges.some(({ type }) => type === '*/*' || produced.includes(type)))
    throw notRouted(route === 'object' ? produced : [...produced, ...streamed])
  for (const { type, parameters } of ranges) {
    const encoding = encodingOf(type, route !== undefined)
    if (encoding === undefined || (stream && encoding === 'yaml')) continue
    const { as: kind, g: group, v: version } = parameters
    if (kind === undefined) return { as: 'object', encoding }
    if (!transformations || group !== 'meta.k8s.io' || (version !== 'v1' && version !== 'v1beta1')) continue
    if (kind === 'Table') return { as: 'table', version, encoding }
    if (kind === 'PartialObjectMetadata' || kind === 'PartialObjectMetadataList') return { as: 'partial', version, kind, encoding }
  }
  // A watch stream cannot be YAML. If a client accepts only YAML for a watch, the error lists the media types of watch streams. In all
  // other cases, the error lists the media types of objects.
  throw notAcceptable(stream && encodingOfError(header) !== undefined ? streamed : produced)
}

/**
 * Returns the encoding of the response for a media type; undefined for an unsupported media type.
 *
 * @param hasProtobuf true if kube-apiserver can send the response in protobuf. A client that accepts protobuf then gets JSON. Clients can
 *   decode this JSON, because they decode a response according to its Content-Type.
 */
function encodingOf(type: string, hasProtobuf = false): Encoding | undefined {
  if (type === 'application/json' || type === 'application/*' || type === '*/*') return 'json'
  if (type === 'application/yaml') return 'yaml'
  return type === protobuf && hasProtobuf ? 'json' : undefined
}

/**
 * Returns the encoding of an error response: JSON or YAML, as the client prefers. Ignores media types with the parameter `as`, such as
 * tables. Returns undefined when the client accepts neither encoding.
 */
export function encodingOfError(header: string | undefined): Encoding | undefined {
  const range = parseAccept(header).find(({ type, parameters }) => parameters.as === undefined && encodingOf(type) !== undefined)
  return range && encodingOf(range.type)
}

/** Returns the error 406 of go-restful, kube-apiserver's router for built-in types. */
function notRouted(offered: readonly string[]): StatusError {
  return new StatusError(failure(406, 'NotAcceptable', `406: Not Acceptable\n\nAvailable representations: ${offered.join(', ')}`, {}))
}

/** Returns the error 406 of kube-apiserver's handlers. */
function notAcceptable(offered: readonly string[] = produced): StatusError {
  return new StatusError(failure(406, 'NotAcceptable', `only the following media types are accepted: ${offered.join(', ')}`))
}

/** True when the client accepts aggregated discovery, even if it prefers another type. */
export function acceptsAggregated(header: string | undefined): boolean {
  return parseAccept(header).some(
    ({ type, parameters: { as: kind, g: group, v: version } }) =>
      encodingOf(type, true) === 'json' && kind === 'APIGroupDiscoveryList' && group === 'apidiscovery.k8s.io' && version === 'v2',
  )
}
