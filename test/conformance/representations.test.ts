/**
 * Tests that a write changes every form of an object: the object itself, lists, watch events, PartialObjectMetadata, tables, YAML and other
 * versions. The writes are random.
 */
import t from 'tap'
import { parse } from 'yaml'
import type { JsonObject } from '../../src/api/json.ts'
import { isObject } from '../../src/api/json.ts'
import type { RawAnswer } from '../support/conformance/api-request.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'
import { define, object } from '../support/conformance/definitions.ts'
import { applyPatch, itemsOf, jsonPatch, mergePatch, metadataOf } from '../support/conformance/objects.ts'
import { watchesOf } from '../support/conformance/watch-events.ts'
import { Dice } from '../support/dice.ts'
import { seed } from '../support/seed.ts'

const namespace = 'conformance-representations'
const group = 'representations.conformance.example.com'
const { connection } = await conformanceControlPlane(t, { controllers: false, namespaces: [namespace] })
const api = apiOf(t, connection)
const watch = watchesOf(t, connection)
const dice = new Dice(seed)
t.comment(`SEED=${seed}`)

const size = { type: 'integer' }
const color = { type: 'string' }
const versionOf = (name: string, storage: boolean, properties: JsonObject): JsonObject => ({
  name,
  storage,
  served: true,
  subresources: { status: {} },
  schema: { openAPIV3Schema: object({ spec: object(properties), status: object({ observed: size }) }) },
})
await define(t, api, {
  metadata: { name: `gadgets.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: 'gadgets', kind: 'Gadget' },
    versions: [versionOf('v1', true, { size, color }), versionOf('v2', false, { size })],
  },
})

const as = (kind: string, version = 'v1'): string => `application/json;as=${kind};v=${version};g=meta.k8s.io`
/** Characters that have one to four bytes in UTF-8. */
const texts = ['', 'plain', 'ä', '€', '😀', '"quoted"\n', 'x'.repeat(300)]

interface Kind {
  readonly path: string
  /** The fields of an object without its metadata. */
  readonly content: () => JsonObject
  readonly type: JsonObject
  readonly isListedWithType: boolean
}

const kinds: readonly Kind[] = [
  {
    path: `/api/v1/namespaces/${namespace}/configmaps`,
    type: { apiVersion: 'v1', kind: 'ConfigMap' },
    content: () => ({ data: { text: dice.pick(texts), number: String(dice.upTo(1_000_000)) } }),
    isListedWithType: false,
  },
  {
    path: `/apis/${group}/v1/namespaces/${namespace}/gadgets`,
    type: { apiVersion: `${group}/v1`, kind: 'Gadget' },
    content: () => ({ spec: { size: dice.upTo(1_000_000), color: dice.pick(texts) } }),
    isListedWithType: true,
  },
]

for (const { path, type, content, isListedWithType } of kinds) {
  const one = `${path}/one`
  const writes: readonly ((current: JsonObject) => Promise<RawAnswer>)[] = [
    (current) => api('PUT', one, { body: { ...current, ...content() } }),
    () => api('PATCH', one, { contentType: mergePatch, body: content() }),
    () => api('PATCH', one, { contentType: mergePatch, body: { metadata: { labels: { number: String(dice.upTo(1_000_000)) } } } }),
    () => api('PATCH', one, { contentType: mergePatch, body: { metadata: { annotations: { text: dice.pick(texts) } } } }),
    () =>
      api('PATCH', one, {
        contentType: jsonPatch,
        body: [{ op: 'add', path: '/metadata/annotations', value: { more: dice.pick(texts) } }],
      }),
    () =>
      api('PATCH', `${one}?fieldManager=tester&force=true`, {
        contentType: applyPatch,
        body: { ...type, metadata: { name: 'one' }, ...content() },
      }),
    async (current) => {
      if (!isListedWithType) return api('PUT', one, { body: current })
      return api('PUT', `${one}/status`, { body: { ...current, status: { observed: dice.upTo(1_000_000) } } })
    },
    async () => {
      await api('DELETE', one)
      return api('POST', path, { body: { ...type, metadata: { name: 'one' }, ...content() } })
    },
  ]

  t.test(`after every write, no form of a ${String(type.kind)} is outdated`, async (t) => {
    const other = await api('POST', path, { body: { ...type, metadata: { name: 'other' }, ...content() } })
    let current = (await api('POST', path, { body: { ...type, metadata: { name: 'one' }, ...content() } })).body
    const selector = 'fieldSelector=metadata.name%3Done'
    const events = await watch(`${path}?${selector}`)
    const partials = await watch(`${path}?${selector}`, { accept: as('PartialObjectMetadata') })

    for (let step = 0; step < 40; step += 1) {
      const written = await dice.pick(writes)(current)
      t.ok(written.status < 300, written.text)
      current = written.body
      const { metadata } = current
      const { kind: _kind, apiVersion: _apiVersion, ...bare } = current
      const item = isListedWithType ? current : bare

      t.equal((await api('GET', one)).text, written.text)
      const list = await api('GET', path)
      t.strictSame(itemsOf(list), [item, isListedWithType ? other.body : (({ kind: _, apiVersion: __, ...rest }) => rest)(other.body)])
      t.equal(Number(list.headers['content-length'] ?? Buffer.byteLength(list.text)), Buffer.byteLength(list.text))
      t.strictSame(itemsOf(await api('GET', path)), itemsOf(list))
      for (const version of ['v1', 'v1beta1']) {
        const apiVersion = `meta.k8s.io/${version}`
        const partial = await api('GET', one, { accept: as('PartialObjectMetadata', version) })
        t.strictSame(partial.body, { kind: 'PartialObjectMetadata', apiVersion, metadata })
        const partialList = await api('GET', path, { accept: as('PartialObjectMetadataList', version) })
        t.strictSame(itemsOf(partialList)[0], { kind: 'PartialObjectMetadata', apiVersion, metadata })
      }
      const { rows } = (await api('GET', `${path}?includeObject=Object`, { accept: as('Table') })).body
      t.strictSame((rows as JsonObject[])[0]!.object, current)
      t.strictSame(parse((await api('GET', one, { accept: 'application/yaml' })).text), current)
      if (isListedWithType) {
        const { spec, ...rest } = current
        const second = { ...rest, apiVersion: `${group}/v2`, spec: { size: (spec as JsonObject).size } }
        t.strictSame((await api('GET', one.replace('/v1/', '/v2/'))).body, second)
        t.strictSame(itemsOf(await api('GET', path.replace('/v1/', '/v2/')))[0], second)
      }

      const { resourceVersion } = metadataOf(current)
      const isCurrent = ({ object }: { readonly object: JsonObject }): boolean => metadataOf(object).resourceVersion === resourceVersion
      const count = (taken: { readonly events: readonly { readonly object: JsonObject }[] }): number =>
        taken.events.findLastIndex(isCurrent)
      while (count(events) < 0) await events.take(events.events.length + 1)
      while (count(partials) < 0) await partials.take(partials.events.length + 1)
      t.strictSame(events.events.at(count(events))!.object, current)
      const seen = partials.events.at(count(partials))!.object
      t.strictSame(seen.metadata, metadata)
      t.notOk(isObject(seen.data) || isObject(seen.spec))
    }
    for (const one of [events, partials]) one.close()
  })
}
