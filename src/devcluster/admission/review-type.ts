/** What a webhook answered, by its apiVersion and kind. */
import { apiVersionOf, parseApiVersion } from '../../api/group-version-kind.ts'
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { noSuchKind } from '../protobuf/decode-object.ts'

/** The review that is expected. */
export interface ExpectedReview {
  readonly kind: string
  readonly apiVersion: string
  /** Of its group: these the API server can decode. */
  readonly knownVersions: readonly string[]
}

/**
 * What is wrong with the type of an answer: the API server knows the reviews of some versions and `Status`, and converts none of them.
 * One that says nothing of its type is decoded as what is expected.
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

/** `group/version, Kind=Kind`, as Go prints it. */
export function describeKind({ apiVersion, kind }: JsonObject): string {
  const { group, version } = parseApiVersion(isText(apiVersion) ? apiVersion : '')
  return `${group === '' && version === '' ? '/' : apiVersionOf({ group, version })}, Kind=${isText(kind) ? kind : ''}`
}

function isText(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && value !== ''
}
