import t from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import { finalizerWarnings } from '../../../src/devcluster/registry/finalizer-warnings.ts'
import {
  carryMetadata,
  countGeneration,
  finalizersOf,
  givenRevision,
  metadataOf,
  metadataText,
  startMetadata,
  validateMetadataUpdate,
  withFields,
  withMetadata,
} from '../../../src/devcluster/registry/metadata.ts'
import { builtinResources } from '../../../src/devcluster/resources/builtin/index.ts'
import type { ResourceInfo } from '../../../src/devcluster/rest/resource-info.ts'
import { foos, refusal } from '../../support/devcluster/registry.ts'

const builtin = (plural: string): ResourceInfo => builtinResources.find((row) => row.plural === plural)!
const now = Date.parse('2026-01-01T00:00:00Z')
const object = (metadata: JsonObject, more: JsonObject = {}): JsonObject => ({ kind: 'Foo', metadata, ...more })

t.test('metadata is read from any submitted value', (t) => {
  t.strictSame(metadataOf({ metadata: { a: 1 } }), { a: 1 })
  for (const metadata of [undefined, null, 'x', []]) t.strictSame(metadataOf({ metadata }), {})
  t.equal(metadataText(object({ name: 'a' }), 'name'), 'a')
  for (const name of [undefined, null, 1, {}]) t.equal(metadataText(object({ name }), 'name'), '')
  t.strictSame(finalizersOf(object({ finalizers: ['a', 1, 'b'] })), ['a', 'b'])
  t.strictSame(finalizersOf(object({ finalizers: 'a' })), [])
  t.end()
})

t.test('fields are changed in a copy, and removed by undefined', (t) => {
  const before = { a: 1, b: 2, c: undefined }
  t.strictSame(Object.keys(withFields(before, { a: undefined, d: 4 })), ['b', 'c', 'd'])
  t.strictSame(before, { a: 1, b: 2, c: undefined })
  t.strictSame(withMetadata({ kind: 'Foo', metadata: 'x' }, { name: 'a', uid: undefined }), { kind: 'Foo', metadata: { name: 'a' } })
  t.end()
})

t.test('a submitted resourceVersion is parsed, and refused when it is not a number', async (t) => {
  const given = (resourceVersion: unknown): string | undefined => givenRevision(object({ resourceVersion: resourceVersion as string }))
  t.strictSame([given(undefined), given(''), given('0'), given('00'), given('7')], [undefined, undefined, undefined, undefined, '7'])
  for (const text of ['x', '-1', '1x', ' 1'])
    t.strictSame(await refusal(() => given(text)), {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: `strconv.ParseUint: parsing "${text}": invalid syntax`,
      code: 500,
    })
})

t.test('a new object has the metadata of the server and no empty fields', (t) => {
  const sent = object({
    name: 'a',
    namespace: 'x',
    uid: 'u',
    generation: 7,
    resourceVersion: '5',
    selfLink: '/x',
    creationTimestamp: '2000-01-01T00:00:00Z',
    deletionTimestamp: '2000-01-01T00:00:00Z',
    deletionGracePeriodSeconds: 3,
    labels: {},
    annotations: null,
    ownerReferences: [],
    finalizers: ['f'],
    managedFields: [],
  })
  const at = { namespace: 'ns', uid: 'new', now }
  const given = { name: 'a', uid: 'new', resourceVersion: '5', creationTimestamp: '2026-01-01T00:00:00Z', finalizers: ['f'] }
  t.strictSame(startMetadata(foos, sent, at), object({ ...given, namespace: 'ns', generation: 1 }))
  t.strictSame(startMetadata(builtin('nodes'), sent, at), object({ ...given, generation: 7 }), 'a cluster-scoped type without generation')
  t.strictSame(startMetadata(builtin('deployments'), object({}), at).metadata, {
    namespace: 'ns',
    uid: 'new',
    creationTimestamp: '2026-01-01T00:00:00Z',
    generation: 1,
  })
  t.end()
})

t.test('an update keeps omitted metadata and the fields that only the server sets', (t) => {
  const old = object({
    name: 'a',
    namespace: 'ns',
    uid: 'u',
    resourceVersion: '7',
    generation: 2,
    creationTimestamp: '2026-01-01T00:00:00Z',
    deletionTimestamp: '2026-01-02T00:00:00Z',
    deletionGracePeriodSeconds: 0,
    labels: { a: 'b' },
  })
  t.strictSame(carryMetadata(object({ name: 'a', uid: '', labels: {}, deletionTimestamp: null }), old).metadata, {
    name: 'a',
    namespace: 'ns',
    uid: 'u',
    resourceVersion: '7',
    generation: 2,
    creationTimestamp: '2026-01-01T00:00:00Z',
    deletionTimestamp: '2026-01-02T00:00:00Z',
    deletionGracePeriodSeconds: 0,
  })
  const sent = object({
    name: 'a',
    namespace: 'x',
    uid: 'other',
    resourceVersion: '1',
    generation: 9,
    creationTimestamp: 'x',
    deletionTimestamp: 'y',
    deletionGracePeriodSeconds: 5,
    selfLink: '/x',
  })
  const carried = {
    name: 'a',
    namespace: 'ns',
    uid: 'other',
    resourceVersion: '7',
    generation: 2,
    creationTimestamp: '2026-01-01T00:00:00Z',
    deletionTimestamp: 'y',
    deletionGracePeriodSeconds: 5,
  }
  t.strictSame(carryMetadata(sent, old).metadata, carried)
  t.strictSame(carryMetadata(sent, old, true).metadata, { ...carried, selfLink: '/x' })
  t.strictSame(carryMetadata(object({ name: 'a' }), object({ name: 'a' })).metadata, { name: 'a' })
  t.end()
})

t.test('an update of immutable metadata is refused', (t) => {
  const old = object({ name: 'a', namespace: 'ns', uid: 'u', finalizers: ['x/a'] })
  const wrong = (changes: JsonObject, before = old) =>
    validateMetadataUpdate(withMetadata(before, changes), before).map(({ path, reason, message }) => `${path} ${reason}: ${message}`)
  t.strictSame(wrong({ labels: { a: 'b' }, finalizers: ['x/a', 'x/b'] }), [])
  const immutable = (field: string, value: string): string =>
    `metadata.${field} FieldValueInvalid: Invalid value: ${value}: field is immutable`
  t.strictSame(wrong({ name: 'b', namespace: 'x', uid: undefined, deletionTimestamp: 't', deletionGracePeriodSeconds: 1 }), [
    immutable('name', '"b"'),
    immutable('namespace', '"x"'),
    immutable('uid', '""'),
    immutable('deletionTimestamp', '"t"'),
    immutable('deletionGracePeriodSeconds', '1'),
  ])
  const deleted = withMetadata(old, { deletionTimestamp: '2026-01-02T00:00:00Z' })
  t.strictSame(wrong({ finalizers: [] }, deleted), [])
  t.strictSame(wrong({ finalizers: ['x/b', 'x/a', 'x/c'] }, deleted), [
    'metadata.finalizers FieldValueForbidden: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"x/b", "x/c"}',
  ])
  t.end()
})

t.test('the generation increases with changes of the desired state', (t) => {
  const counted = (info: ResourceInfo, changes: JsonObject, before: JsonObject, subresource = ''): unknown =>
    metadataOf(countGeneration(info, { ...before, ...changes }, before, subresource)).generation
  const foo = object({ name: 'a', generation: 2 }, { spec: { size: 1 }, status: { phase: 'Up' }, data: 1 })
  t.equal(counted(foos, {}, foo), 2)
  t.equal(counted(foos, { status: {} }, foo), 2)
  t.equal(counted(foos, { metadata: { name: 'a', annotations: { a: 'b' } } }, foo), 2)
  t.equal(counted(foos, { spec: { size: 2 } }, foo), 3)
  t.equal(counted(foos, { data: 2 }, foo), 3)
  const withoutStatus = { ...foos, subresources: {} }
  t.equal(counted(withoutStatus, { status: {} }, foo), 3, 'without a status subresource the status is desired state')
  t.equal(counted(foos, { spec: {} }, object({ name: 'a' }, { spec: { size: 1 } })), 1)
  t.equal(counted(foos, {}, object({ name: 'a' })), undefined)
  const deployment = object({ name: 'a', generation: 2 }, { spec: { replicas: 1 } })
  const annotated = { metadata: { name: 'a', generation: 2, annotations: { a: 'b' } } }
  t.equal(counted(builtin('deployments'), annotated, deployment), 3, 'annotations of Deployments count')
  t.equal(counted(builtin('deployments'), annotated, deployment, 'status'), 2, 'those written with the status do not')
  t.equal(counted(builtin('deployments'), { metadata: { name: 'a', labels: { a: 'b' } } }, deployment), 2)
  t.equal(counted(builtin('replicasets'), annotated, deployment), 2)
  t.equal(counted(builtin('endpointslices'), { metadata: { name: 'a', labels: { a: 'b' } } }, object({ name: 'a', generation: 2 })), 3)
  t.equal(counted(builtin('configmaps'), { data: { a: 'b' } }, object({ name: 'a' })), undefined)
  t.end()
})

t.test('finalizers of custom resources should have a domain and a path', (t) => {
  const advice = 'to avoid accidental conflicts with other finalizer writers'
  const named = object({ finalizers: ['', 'a', 'kubernetes', 'orphan', 'foregroundDeletion', 'x.io/a', 'x.io', 'old'] })
  t.strictSame(finalizerWarnings(named, object({ finalizers: ['old'] })), [
    `metadata.finalizers: "a": prefer a domain-qualified finalizer name ${advice}`,
    `metadata.finalizers: "x.io": prefer a domain-qualified finalizer name including a path (/) ${advice}`,
  ])
  t.equal(finalizerWarnings(named).length, 3)
  t.end()
})
