/** Which form of an answer a client wants: the `Accept` header. */
import { failure } from '../../api/status.ts'
import { StatusError } from '../registry/status-error.ts'

/** The forms in which an object, a list or a watch event can be sent. */
export type Form =
  | { readonly as: 'object'; readonly encoding: 'json' | 'yaml' }
  | { readonly as: 'table'; readonly version: 'v1' | 'v1beta1' }
  | { readonly as: 'partial'; readonly version: 'v1' | 'v1beta1' }

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
  const weight = (range: MediaRange): number => (range.parameters.q === undefined ? 1 : Number(range.parameters.q) || 0)
  return ranges.filter((range) => weight(range) > 0).sort((a, b) => weight(b) - weight(a))
}

/** What may be asked for beyond plain objects. */
export interface Offers {
  /** Reviews have no table and no partial form. */
  readonly transformations: boolean
  /** For watches: no YAML. */
  readonly stream: boolean
}

/**
 * The form of the answer.
 *
 * @throws {StatusError} 406 when there is none that the client accepts.
 */
export function negotiate(header: string | undefined, offers: Offers): Form {
  const ranges = parseAccept(header)
  for (const { type, parameters } of ranges) {
    const json = type === 'application/json' || type === '*/*' || type === 'application/*'
    const yaml = type === 'application/yaml' && !offers.stream
    if (!json && !yaml) continue
    const { as, g: group, v: version = 'v1' } = parameters
    if (as === undefined) return { as: 'object', encoding: json ? 'json' : 'yaml' }
    const known = json && offers.transformations && group === 'meta.k8s.io' && (version === 'v1' || version === 'v1beta1')
    if (known && as === 'Table') return { as: 'table', version }
    if (known && (as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList')) return { as: 'partial', version }
  }
  throw notAcceptable(ranges)
}

/** 406: unknown media types get the words of the HTTP layer, known ones in an unknown form the list of what there is. */
export function notAcceptable(ranges: readonly MediaRange[]): StatusError {
  const known = ranges.some(
    ({ type }) => type === 'application/json' || type === 'application/yaml' || type === 'application/vnd.kubernetes.protobuf',
  )
  const text = known ? 'only the following media types are accepted: application/json, application/yaml' : '406: Not Acceptable'
  return new StatusError(failure(406, 'NotAcceptable', text))
}

/** Which of the discovery documents: aggregated in one of its versions, or the legacy one. */
export function negotiateDiscovery(header: string | undefined): 'v2' | 'v2beta1' | 'legacy' {
  const ranges = parseAccept(header)
  for (const { type, parameters } of ranges) {
    if (type !== 'application/json' && type !== '*/*' && type !== 'application/*') continue
    if (parameters.as === undefined) return 'legacy'
    const { as, g: group, v: version } = parameters
    if (as === 'APIGroupDiscoveryList' && group === 'apidiscovery.k8s.io' && (version === 'v2' || version === 'v2beta1')) return version
  }
  throw notAcceptable(ranges)
}
