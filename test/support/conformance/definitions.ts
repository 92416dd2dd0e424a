/** Creates CustomResourceDefinitions for conformance tests, and deletes them at the end of the test. */
import type { Test } from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import type { Api, RawAnswer } from './api-request.ts'
import { until } from '../../../src/testing/until.ts'

/** The API group of the kinds that conformance tests define. */
export const group = 'custom-resources.conformance.example.com'
export const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
export const namespace = 'conformance-custom-resources'

export { applyPatch, jsonPatch, mergePatch } from './objects.ts'
export const table = 'application/json;as=Table;v=v1;g=meta.k8s.io'

export const string: JsonObject = { type: 'string' }

/** Returns the schema of an object with these properties. `rest` adds other keywords. */
export function object(properties: JsonObject, rest: JsonObject = {}): JsonObject {
  return { type: 'object', properties, ...rest }
}

/** Returns a CustomResourceDefinition with one version. `version` overrides fields of the version. `spec` overrides fields of the spec. */
export function definition(plural: string, kind: string, schema: JsonObject, version: JsonObject = {}, spec: JsonObject = {}): JsonObject {
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, ...version }]
  const whole = { group, scope: 'Namespaced', names: { plural, kind }, versions }
  // `metadata.name` is derived only from `plural` and `group`. A test can therefore pass a `spec.names` that does not match
  // `metadata.name`.
  return { ...definitionOf(whole), spec: { ...whole, ...spec } }
}

/** Returns a CustomResourceDefinition with this spec. Its name is derived from the spec. */
export function definitionOf(spec: JsonObject): JsonObject {
  const name = `${(spec.names as { plural: string }).plural}.${spec.group as string}`
  return { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name }, spec }
}

export function definitionPath(plural: string): string {
  return `${definitions}/${plural}.${group}`
}

/** Returns the URL path of an object, or of the collection if there is no name. */
export function objects(plural: string, name = '', version = 'v1'): string {
  return `/apis/${group}/${version}/namespaces/${namespace}/${plural}${name === '' ? '' : `/${name}`}`
}

export function custom(kind: string, name: string, rest: JsonObject = {}, metadata: JsonObject = {}, version = 'v1'): JsonObject {
  return { apiVersion: `${group}/${version}`, kind, metadata: { name, ...metadata }, ...rest }
}

/** Creates a CustomResourceDefinition. Resolves when its versions are served. The definition is deleted at the end of the test. */
export async function define(t: Test, api: Api, body: JsonObject): Promise<void> {
  const { metadata, spec } = body as unknown as {
    metadata: { name: string }
    spec: { group: string; names: { plural: string }; versions: { name: string; served: boolean }[] }
  }
  const { status, text } = await api('POST', definitions, { body })
  if (status !== 201) throw new Error(text)
  t.teardown(() => api('DELETE', `${definitions}/${metadata.name}`))
  for (const { name, served } of spec.versions) {
    if (!served) continue
    const path = `/apis/${spec.group}/${name}/${spec.names.plural}`
    await until(`${path} is served`, async () => (await api('GET', path)).status === 200)
  }
}

/** Creates an object. Throws when the request is rejected. */
export async function create(api: Api, plural: string, body: JsonObject): Promise<RawAnswer> {
  const answer = await api('POST', objects(plural), { body })
  if (answer.status !== 201) throw new Error(answer.text)
  return answer
}

/**
 * Returns the Status of a request that was rejected with the reason `Invalid`. Each item of `causes` has the form `FIELD: MESSAGE`. In the
 * Status, the reason of each cause is derived from the message of the cause.
 */
export function invalid(kind: string, name: string, causes: readonly string[], of = group): JsonObject {
  const list = [...causes].sort()
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: `${kind}.${of} "${name}" is invalid: ${list.length === 1 ? list[0]! : `[${list.join(', ')}]`}`,
    reason: 'Invalid',
    details: {
      name,
      group: of,
      kind,
      causes: list.map((cause) => {
        const [, field, message] = /^(.*?): (.*)$/s.exec(cause)!
        return { reason: reasonOf(message!), message: message!, field: field! }
      }),
    },
    code: 422,
  }
}

/**
 * Returns the body of the response. The causes are sorted, both in the details and in the message. The API server lists the causes in
 * random order, because Go iterates over maps in random order.
 */
export function ordered({ body }: RawAnswer): JsonObject {
  const { details, message } = body as { details?: { causes?: { field: string; message: string }[] }; message?: string }
  const causes = details?.causes?.map((cause) => ({ cause, text: `${cause.field}: ${cause.message}` })) ?? []
  if (causes.length < 2) return body
  const given = `[${causes.map(({ text }) => text).join(', ')}]`
  const sorted = causes.toSorted((a, b) => (a.text < b.text ? -1 : 1))
  return {
    ...body,
    details: { ...(details as JsonObject), causes: sorted.map(({ cause }) => cause as unknown as JsonObject) },
    message: message!.replace(given, () => `[${sorted.map(({ text }) => text).join(', ')}]`),
  }
}

function reasonOf(message: string): string {
  if (message.startsWith('Required value')) return 'FieldValueRequired'
  if (message.startsWith('Duplicate value')) return 'FieldValueDuplicate'
  if (message.startsWith('Unsupported value')) return 'FieldValueNotSupported'
  if (message.startsWith('Forbidden')) return 'FieldValueForbidden'
  if (message.startsWith('Too long')) return 'FieldValueTooLong'
  if (message.startsWith('Too many')) return 'FieldValueTooMany'
  return / in body must be of type /.test(message) ? 'FieldValueTypeInvalid' : 'FieldValueInvalid'
}
