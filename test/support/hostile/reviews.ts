/**
 * A kind whose schema has every feature that can be slow to validate, and AdmissionReviews of at most 7 MiB that are expensive to parse or
 * to validate.
 */
import { defineKind } from '../../../src/api/kind.ts'
import { Type } from '../../../src/api/type.ts'

const item = Type.Object({ name: Type.String(), text: Type.Optional(Type.String()), weight: Type.Integer({ default: 1, maximum: 9 }) })

/** The type of the items of `rules`. The list has `listType: atomic`, so its items have no key. */
const rule = Type.Object({
  match: Type.Record(Type.String()),
  id: Type.Integer(),
  protocol: Type.String({ default: 'TCP' }),
  seen: Type.Optional(Type.Boolean()),
})

export const target = defineKind({
  group: 'hostile.example.com',
  kind: 'Target',
  versions: [
    {
      name: 'v1',
      spec: Type.Object({
        /** RE2 matches this pattern in linear time. An engine that backtracks needs exponential time. */
        evil: Type.Optional(Type.String({ pattern: '^(([a-z])+.)+[A-Z]([a-z])+$' })),
        labels: Type.Optional(Type.Record(Type.String())),
        numbers: Type.Optional(Type.Array(Type.Integer(), { listType: 'set' })),
        names: Type.Optional(Type.Array(Type.String(), { listType: 'set' })),
        items: Type.Optional(Type.Array(item, { listType: 'map', listMapKeys: ['name'] })),
        plain: Type.Optional(Type.Array(item)),
        rules: Type.Optional(Type.Array(rule)),
        open: Type.Optional(Type.Unknown()),
      }),
    },
  ],
})

const type = { group: 'hostile.example.com', version: 'v1', kind: 'Target' }

/** Returns the JSON of an AdmissionReview for a Target. `spec` is the JSON of its spec. */
export function reviewOfSpec(spec: string, uid = 'hostile'): string {
  const request = { uid, kind: type, resource: { group: type.group, version: 'v1', resource: 'targets' }, name: 't', namespace: 'ns' }
  const object = `{"apiVersion":"hostile.example.com/v1","kind":"Target","metadata":{"name":"t","namespace":"ns"},"spec":${spec}}`
  const head = JSON.stringify({ ...request, operation: 'CREATE', userInfo: { username: 'eve' }, dryRun: false }).slice(0, -1)
  return `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":${head},"object":${object},"oldObject":null,"options":null}}`
}

export interface HostileReview {
  readonly name: string
  /** Generates the JSON of the AdmissionReview, which can have several megabytes. */
  readonly text: () => string
  readonly allowed: boolean
  /** The status code of the AdmissionResponse that denies the request. */
  readonly code?: number
}

const list = (count: number, at: (index: number) => string): string => `[${Array.from({ length: count }, (_, i) => at(i)).join(',')}]`
const fields = (count: number, at: (index: number) => string): string => `{${Array.from({ length: count }, (_, i) => at(i)).join(',')}}`

/**
 * Returns the JSON of an AdmissionReview of about `bytes` bytes. Its 500 rules differ only in their last fields. Most field names in the
 * rules contain an escaped quote, such as `k00\"a`. A server that reads samples of the body could mistake the escaped quote for the
 * beginning of the name, and read all these names as `a`.
 */
export function rulesReview(bytes: number): string {
  const match = fields(Math.floor((bytes / 500 - 40) / 16), (i) => `"k${i.toString(36).padStart(2, '0')}\\"a":"vvv"`)
  return reviewOfSpec(`{"rules":${list(500, (i) => `{"match":${match},${i % 499 > 0 ? '"protocol":"TCP",' : ''}"id":${i}}`)}}`)
}

export const hostileReviews: readonly HostileReview[] = [
  { name: 'a million keys', text: () => reviewOfSpec(`{"labels":${fields(1_000_000, () => '"":""')}}`), allowed: false, code: 413 },
  { name: '400,000 keys', text: () => reviewOfSpec(`{"labels":${fields(400_000, (i) => `"key-${i}":"v"`)}}`), allowed: true },
  { name: '100,000 levels', text: () => reviewOfSpec(`{"open":${'['.repeat(100_000)}${']'.repeat(100_000)}}`), allowed: false, code: 413 },
  { name: '3 million levels', text: () => reviewOfSpec(`{"open":${'['.repeat(3e6)}${']'.repeat(3e6)}}`), allowed: false, code: 413 },
  { name: 'as many ones', text: () => reviewOfSpec(`{"numbers":[${'1,'.repeat(3_000_000)}1]}`), allowed: false, code: 413 },
  { name: '7 MB against an evil pattern', text: () => reviewOfSpec(`{"evil":"${'a'.repeat(7e6)}!"}`), allowed: false, code: 422 },
  { name: '7 MB of escapes', text: () => reviewOfSpec(`{"evil":"${'\\u0041'.repeat(1.1e6)}"}`), allowed: false, code: 422 },
  { name: 'a set of 450,000 numbers', text: () => reviewOfSpec(`{"numbers":${list(450_000, String)}}`), allowed: true },
  {
    name: 'a set of 400,000 equal names',
    text: () => reviewOfSpec(`{"names":${list(400_000, () => '"same"')}}`),
    allowed: false,
    code: 422,
  },
  {
    name: 'a map of 90,000 items',
    text: () => reviewOfSpec(`{"items":${list(90_000, (i) => `{"name":"n${i}","text":"${'x'.repeat(20)}"}`)}}`),
    allowed: true,
  },
  {
    name: '200,000 wrong items',
    text: () => reviewOfSpec(`{"plain":${list(200_000, (i) => `{"weight":"${i}"}`)}}`),
    allowed: false,
    code: 422,
  },
  {
    name: 'half a million unknown fields',
    text: () => reviewOfSpec(`{"open":{"list":${list(200_000, (i) => `{"f${i}":${i}}`)}}}`),
    allowed: true,
  },
  {
    name: '300,000 integers beyond 2^53',
    text: () => reviewOfSpec(`{"numbers":${list(300_000, (i) => String(9_007_199_254_740_993n + BigInt(i)))}}`),
    allowed: true,
  },
  { name: '1 MB of new names', text: () => reviewOfSpec(`{"open":{"list":${list(70_000, (i) => `{"f${i}":1}`)}}}`), allowed: true },
]
