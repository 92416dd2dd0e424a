import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import { completeResult } from '../../src/conversion/converted-object.ts'
import { compileSchema } from '../../src/schema/compile.ts'

const schema = compileSchema({
  type: 'object',
  properties: {
    spec: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'integer', default: 7 } } },
    status: { type: 'object', properties: { c: { type: 'string' } } },
  },
})
const metadata = { name: 'a', uid: 'u', labels: { l: '1' }, annotations: { n: '2' } }
const source: JsonObject = { apiVersion: 'example.com/v1', kind: 'Job', metadata, spec: { old: 1 }, status: { c: 'x' } }
const complete = (result: unknown, from = source): JsonObject => completeResult(from, result, 'example.com/v2', schema)
const envelope = { apiVersion: 'example.com/v2', kind: 'Job' }

t.test('a result gets apiVersion, kind, metadata and defaults', async (t) => {
  t.strictSame(complete({ spec: { a: 'x' } }), { ...envelope, metadata, spec: { a: 'x', b: 7 }, status: { c: 'x' } })
  t.strictSame(complete({ spec: {}, status: { c: 'y' } }).status, { c: 'y' })
  t.strictSame(complete({}), { ...envelope, metadata, status: { c: 'x' } })
  t.notOk('status' in complete({ spec: {}, status: undefined }), 'an undefined status is omitted')
  t.strictSame(complete({ spec: undefined }, { apiVersion: 'example.com/v1', kind: 'Job' }), envelope)
})

t.test('a converter may return apiVersion and kind of either version', async (t) => {
  for (const apiVersion of ['example.com/v1', 'example.com/v2'])
    t.strictSame(complete({ apiVersion, kind: 'Job', metadata, other: undefined }), { ...envelope, metadata, status: { c: 'x' } })
  const start = 'the converter wrote'
  const end = ', and may write spec and status, and of the metadata labels and annotations'
  t.throws(() => complete({ apiVersion: 'example.com/v3' }), { code: 'PRO_INPUT', message: `${start} apiVersion${end}` })
  t.throws(() => complete({ kind: 'Other' }), { code: 'PRO_INPUT', message: `${start} kind${end}` })
  t.throws(() => complete({ data: 1 }), { code: 'PRO_INPUT', message: `${start} data${end}` })
})

t.test('an invalid result is described by its type', async (t) => {
  const cases: readonly (readonly [unknown, string])[] = [
    [undefined, 'returned nothing instead of an object with spec and status'],
    [null, 'returned null instead of an object with spec and status'],
    [[], 'returned a list instead of an object with spec and status'],
    ['x', 'returned a string instead of an object with spec and status'],
    [{ spec: [] }, 'returned a list as spec'],
    [{ spec: null }, 'returned null as spec'],
    [{ metadata: 5 }, 'returned a number as metadata'],
    [{ metadata: { labels: [] } }, 'returned metadata.labels with values that are not strings'],
    [{ metadata: { annotations: { a: 1 } } }, 'returned metadata.annotations with values that are not strings'],
    [{ metadata: { uid: 'v' } }, 'changed metadata.uid from "u" to "v": only labels and annotations may change'],
    [{ metadata: { finalizers: ['f'] } }, 'changed metadata.finalizers from nothing to ["f"]: only labels and annotations may change'],
  ]
  for (const [result, problem] of cases) t.throws(() => complete(result), { code: 'PRO_INPUT', message: `the converter ${problem}` })
})

t.test('returned labels and annotations replace the existing ones', async (t) => {
  t.strictSame(complete({ metadata: { labels: { x: 'y' } } }).metadata, { ...metadata, labels: { x: 'y' } })
  const { annotations: _, ...rest } = metadata
  t.strictSame(complete({ metadata: { annotations: {}, labels: undefined, name: 'a' } }).metadata, rest)
  t.equal(complete({ metadata: { labels: { l: '1' } } }).metadata, metadata, 'equal labels change nothing')
  t.strictSame(complete({ metadata: { labels: { x: 'y' } } }, { kind: 'Job' }).metadata, { labels: { x: 'y' } })
  t.strictSame(metadata.labels, { l: '1' })
})

t.test('fields that the schema does not have are reported, except for those of a copied status', async (t) => {
  const droppedOf = (result: unknown, from = source): unknown[] => {
    const paths: string[][] = []
    completeResult(from, result, 'example.com/v2', schema, (dropped) => void paths.push([...dropped]))
    return paths.flat()
  }
  t.strictSame(droppedOf({ spec: { a: 'x', odd: 1 }, status: { odd: 1 } }), ['spec.odd', 'status.odd'])
  t.strictSame(droppedOf({ spec: { odd: 1 } }, { ...source, status: { odd: 1, statuses: 1 } }), ['spec.odd'])
  t.strictSame(droppedOf({ spec: { status: 1 } }), ['spec.status'])
  const without = compileSchema({ type: 'object', properties: { spec: { type: 'object' }, statuses: { type: 'object' } } })
  const paths: string[] = []
  completeResult(source, { spec: {} }, 'example.com/v2', without, (dropped) => void paths.push(...dropped))
  t.strictSame(paths, [])
  completeResult(source, { spec: {}, status: {} }, 'example.com/v2', without, (dropped) => void paths.push(...dropped))
  t.strictSame(paths, ['status'])
})
