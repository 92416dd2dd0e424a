/** Checks the apiVersion and kind of a webhook's response. */
import { apiVersionOf, parseApiVersion } from '../../api/group-version-kind.ts'
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { noSuchKind } from '../protobuf/decode-object.ts'

/** The type that a webhook's response must have. */
export interface ExpectedReview {
  readonly kind: string
  readonly apiVersion: string
  /** The versions of the review's API group that kube-apiserver can decode, such as `v1` and `v1beta1`. */
  readonly knownVersions: readonly string[]
}

/**
 * Returns the error for a response of a wrong type; undefined when there is no error.
 *
 * - If apiVersion or kind is missing, there is no error. The response is decoded as the expected type.
 * - If the type is `Status`, or the same review in another version that kube-apiserver can decode, the error states that the type cannot be
 *   converted.
 * - For any other wrong type, the error states that the type is not registered.
 */
export function reviewTypeProblem({ apiVersion, kind }: JsonObject, expected: ExpectedReview): string | undefined {
  if (!isText(apiVersion) || !isText(kind)) return undefined
  if (apiVersion === expected.apiVersion && kind === expected.kind) return undefined
  const { group, version: wanted } = parseApiVersion(expected.apiVersion)
  const isKnown = kind === expected.kind && expected.knownVersions.some((version) => apiVersion === apiVersionOf({ group, version }))
  if (isKnown || (apiVersion === 'v1' && kind === 'Status')) {
    return `converting (${parseApiVersion(apiVersion).version}.${kind}) to (${wanted}.${expected.kind}): unknown conversion`
  }
  return noSuchKind({ apiVersion, kind })
}

/** Formats apiVersion and kind as Go does: `group/version, Kind=Kind`. */
export function describeKind({ apiVersion, kind }: JsonObject): string {
  const { group, version } = parseApiVersion(isText(apiVersion) ? apiVersion : '')
  return `${group === '' && version === '' ? '/' : apiVersionOf({ group, version })}, Kind=${isText(kind) ? kind : ''}`
}

function isText(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && value !== ''
}
