/** CustomResourceDefinitions for conformance cases: created, served, and gone with the test. */
import type { Test } from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import type { Api, RawAnswer } from './api-request.ts'
import { until } from './process.ts'

/** The group of all kinds that the conformance cases define themselves. */
export const group = 'custom-resources.conformance.example.com'
export const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
export const namespace = 'conformance-custom-resources'

export { applyPatch, jsonPatch, mergePatch } from './conformance-objects.ts'
export const table = 'application/json;as=Table;v=v1;g=meta.k8s.io'

export const string: JsonObject = { type: 'string' }

/** The schema of an object with these properties. */
export function object(properties: JsonObject, rest: JsonObject = {}): JsonObject {
  return { type: 'object', properties, ...rest }
}

/** A kind with one version; `version` and `spec` add to these parts. */
export function definition(plural: string, kind: string, schema: JsonObject, version: JsonObject = {}, spec: JsonObject = {}): JsonObject {
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, ...version }]
  const whole = { group, scope: 'Namespaced', names: { plural, kind }, versions }
  // A spec that says other names does not change that of the definition.
  return { ...definitionOf(whole), spec: { ...whole, ...spec } }
}

/** The definition with a spec, which says its name. */
export function definitionOf(spec: JsonObject): JsonObject {
  const name = `${(spec.names as { plural: string }).plural}.${spec.group as string}`
  return { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name }, spec }
}

export function definitionPath(plural: string): string {
  return `${definitions}/${plural}.${group}`
}

/** The path of the objects of a kind, or of one of them. */
export function objects(plural: string, name = '', version = 'v1'): string {
  return `/apis/${group}/${version}/namespaces/${namespace}/${plural}${name === '' ? '' : `/${name}`}`
}

export function custom(kind: string, name: string, rest: JsonObject = {}, metadata: JsonObject = {}, version = 'v1'): JsonObject {
  return { apiVersion: `${group}/${version}`, kind, metadata: { name, ...metadata }, ...rest }
}

/** Creates a definition, and waits until its versions are served; it goes with the test. */
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

/** Creates an object as soon as that is possible. */
export async function create(api: Api, plural: string, body: JsonObject): Promise<RawAnswer> {
  const answer = await api('POST', objects(plural), { body })
  if (answer.status !== 201) throw new Error(answer.text)
  return answer
}

/** A whole refusal with these causes, each `field: message`; the reasons follow from the messages. */
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

/** An answer with its causes, and the list of them in its message, in a fixed order: the API server's follows from random maps. */
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
