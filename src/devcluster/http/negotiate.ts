/** Which form of an answer a client wants: the `Accept` header. */
import { failure } from '../../api/status.ts'
import { StatusError } from '../registry/status-error.ts'

export type Encoding = 'json' | 'yaml'

/** The forms in which an object, a list or a watch event can be sent. */
export type Form = { readonly encoding: Encoding } & (
  | { readonly as: 'object' }
  | { readonly as: 'table'; readonly version: 'v1' | 'v1beta1' }
  | { readonly as: 'partial'; readonly version: 'v1' | 'v1beta1'; readonly kind: 'PartialObjectMetadata' | 'PartialObjectMetadataList' }
)

export interface MediaRange {
  readonly type: string
  readonly parameters: Readonly<Record<string, string>>
}

/** The media types of an `Accept` header, the preferred first; a missing header accepts anything. */
export function parseAccept(header: string | undefined): readonly MediaRange[] {
  if (header === undefined || header.trim() === '') return [{ type: '*/*', parameters: {} }]
  const ranges = header.split(',').map((part) => {
    const [type = '', ...rest] = part.split(';').map((piece) => piece.trim())
    const parameters = Object.fromEntries(
      rest.map((pair): [string, string] => [pair.split('=')[0]!.trim(), pair.slice(pair.indexOf('=') + 1).trim()]),
    )
    return { type: type.toLowerCase(), parameters }
  })
  // Even a type with the weight 0 is taken where there is no other: so does the API server.
  const weight = (range: MediaRange): number => (range.parameters.q === undefined ? 1 : Number(range.parameters.q) || 0)
  return ranges.sort((a, b) => weight(b) - weight(a))
}

/** What there is to choose from. */
export interface Offers {
  /** Tables and metadata alone. Reviews have neither. */
  readonly transformations?: boolean
  /** For watches: no YAML. */
  readonly stream?: boolean
  /**
   * Where the API server's own handlers have protobuf, too. Those of objects and collections stand behind a router that looks at the header first.
   * Absent: a custom resource.
   */
  readonly route?: 'object' | 'collection' | 'document'
}

const protobuf = 'application/vnd.kubernetes.protobuf'
const produced = ['application/json', 'application/yaml', protobuf]
const streamed = ['application/json;stream=watch', `${protobuf};stream=watch`]

/**
 * The form of the answer.
 *
 * @throws {StatusError} 406 when there is none that the client accepts.
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
  // What the client asks for may be acceptable, and only a stream of it not.
  throw notAcceptable(stream && encodingOfError(header) !== undefined ? streamed : produced)
}

/** Who takes protobuf gets JSON where the API server has protobuf: clients read what the answer says it is. */
function encodingOf(type: string, hasProtobuf = false): Encoding | undefined {
  if (type === 'application/json' || type === 'application/*' || type === '*/*') return 'json'
  if (type === 'application/yaml') return 'yaml'
  return type === protobuf && hasProtobuf ? 'json' : undefined
}

/** In which encoding a client wants to hear that something went wrong; undefined where it says only what it cannot have. */
export function encodingOfError(header: string | undefined): Encoding | undefined {
  const range = parseAccept(header).find(({ type, parameters }) => parameters.as === undefined && encodingOf(type) !== undefined)
  return range && encodingOf(range.type)
}

/** 406 of what looks at the header first. */
function notRouted(offered: readonly string[]): StatusError {
  return new StatusError(failure(406, 'NotAcceptable', `406: Not Acceptable\n\nAvailable representations: ${offered.join(', ')}`, {}))
}

/** 406 with what there is instead. */
function notAcceptable(offered: readonly string[] = produced): StatusError {
  return new StatusError(failure(406, 'NotAcceptable', `only the following media types are accepted: ${offered.join(', ')}`))
}

/** Whether a client that asks for discovery takes it aggregated; it need not prefer that. */
export function acceptsAggregated(header: string | undefined): boolean {
  return parseAccept(header).some(
    ({ type, parameters: { as: kind, g: group, v: version } }) =>
      encodingOf(type, true) === 'json' && kind === 'APIGroupDiscoveryList' && group === 'apidiscovery.k8s.io' && version === 'v2',
  )
}
