/** Reads the fields of objects and lists, and defines a custom type, for conformance tests of reads and writes. */
import type { Test } from 'tap'
import type { JsonObject, JsonValue } from '../../../src/api/json.ts'
import { isObject } from '../../../src/api/json.ts'
import type { Api, RawAnswer } from './api-request.ts'
import { until } from '../../../src/testing/until.ts'

export const mergePatch = 'application/merge-patch+json'
export const jsonPatch = 'application/json-patch+json'
export const applyPatch = 'application/apply-patch+yaml'
export const strategicPatch = 'application/strategic-merge-patch+json'

export function metadataOf(object: JsonValue | undefined): JsonObject {
  return isObject(object) && isObject(object.metadata) ? object.metadata : {}
}

export function listMetadataOf({ body }: RawAnswer): JsonObject {
  return metadataOf(body)
}

export function itemsOf({ body, text }: RawAnswer): JsonObject[] {
  if (!Array.isArray(body.items)) throw new Error(`no list: ${text}`)
  return body.items.filter(isObject)
}

export function namesOf(answer: RawAnswer): string[] {
  return itemsOf(answer).map((item) => String(metadataOf(item).name))
}

export function continueToken(answer: RawAnswer): string {
  const { continue: token } = listMetadataOf(answer)
  if (typeof token !== 'string' || token === '') throw new Error(`no further page: ${answer.text}`)
  return encodeURIComponent(token)
}

/** A custom type that is served, with a status subresource. */
export interface Foos {
  readonly group: string
  readonly definition: string
  /** The URL path of the collection in the namespace. */
  readonly path: string
  bodyOf(metadata: JsonObject, rest?: JsonObject): JsonObject
}

/**
 * Defines the type Foo in its own group. Resolves when objects of the type can be created, read and watched. The type is deleted at the end
 * of the test.
 */
export async function serveFoos(t: Test, api: Api, namespace: string): Promise<Foos> {
  const group = `${namespace}.example.com`
  const name = `foos.${group}`
  const definition = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`
  const schema = {
    type: 'object',
    properties: {
      spec: { type: 'object', properties: { size: { type: 'integer' }, color: { type: 'string' } } },
      status: { type: 'object', properties: { observed: { type: 'integer' } } },
    },
  }
  const version = { name: 'v1', served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema: schema } }
  const spec = { group, scope: 'Namespaced', names: { plural: 'foos', kind: 'Foo' }, versions: [version] }
  const answer = await api('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { body: { metadata: { name }, spec } })
  if (answer.status !== 201) throw new Error(answer.text)
  t.teardown(() => api('DELETE', definition).catch(() => undefined))
  const path = `/apis/${group}/v1/namespaces/${namespace}/foos`
  const bodyOf = (metadata: JsonObject, rest: JsonObject = {}): JsonObject => ({
    apiVersion: `${group}/v1`,
    kind: 'Foo',
    metadata,
    ...rest,
  })
  await until('foos are served', async () => (await api('POST', path, { body: bodyOf({ name: 'probe' }) })).status === 201)
  await until('foos are in the cache', async () => namesOf(await api('GET', `${path}?resourceVersion=0`)).includes('probe'))
  await api('DELETE', `${path}/probe`)
  return { group, definition, path, bodyOf }
}
