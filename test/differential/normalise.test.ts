/** Tests of the normalisation of responses: placeholders replace the values that differ between runs. */
import t from 'tap'
import type { JsonValue } from '../../src/api/json.ts'
import { Normaliser } from '../real/differential/normalise.ts'

const now = new Date().toISOString()
const uid = (digit: number): string => `a${digit}b2c3d4-0000-4000-8000-00000000000${digit}`
const answer = (body: JsonValue, headers = {}) => ({ status: 200, headers, body })
const bodyOf = (normaliser: Normaliser, body: JsonValue): JsonValue => normaliser.answer(answer(body)).body!

const cases: Record<string, [given: JsonValue, normal: JsonValue]> = {
  'times of now, with their precision': [
    [now, now.replace(/\.\d+/, ''), now.replace('Z', '123Z')],
    ['<time with 3 digits>', '<time>', '<time with 6 digits>'],
  ],
  'no times that a request gave': [['2001-01-01T00:00:00Z'], ['2001-01-01T00:00:00Z']],
  'resource versions of lists': [
    { metadata: { resourceVersion: '12', continue: 'abc' } },
    { metadata: { resourceVersion: '<version>', continue: '<continue>' } },
  ],
  'no resource version that says nothing': [
    { metadata: { resourceVersion: '0', continue: '' } },
    { metadata: { resourceVersion: '0', continue: '' } },
  ],
  'versions in texts': ['too old resource version: 1 (199)', 'too old resource version: <version> (<version>)'],
  'uids that nobody has': [`the UID ${uid(1)}`, 'the UID <uid>'],
  'no uids that a request made up': ['11111111-1111-1111-1111-111111111111', '11111111-1111-1111-1111-111111111111'],
  'addresses and ports': ['https://127.0.0.1:6443, 10.96.0.10', 'https://127.0.0.1:<port>, <cluster IP>'],
  'node ports': [
    { nodePort: 30_123, port: 30_123 },
    { nodePort: '<node port>', port: 30_123 },
  ],
  tokens: ['Bearer eyJhbGciOi.eyJzdWIi.c2ln_-', 'Bearer <token>'],
  'ages in tables': [
    { kind: 'Table', rows: [{ cells: ['a', '4m33s', '0s', 3] }] },
    { kind: 'Table', rows: [{ cells: ['a', '<age>', '<age>', 3] }] },
  ],
  'ages elsewhere stay': [
    { kind: 'Other', rows: [{ cells: ['4m33s'] }] },
    { kind: 'Other', rows: [{ cells: ['4m33s'] }] },
  ],
}

for (const [name, [given, normal]] of Object.entries(cases))
  t.test(`normalises ${name}`, async (t) => t.strictSame(bodyOf(new Normaliser(), given), normal))

t.test('a uid is named after the first object that had it', async (t) => {
  const normaliser = new Normaliser()
  bodyOf(normaliser, { metadata: { name: 'a', uid: uid(1) } })
  t.strictSame(bodyOf(normaliser, { metadata: { name: 'a', uid: uid(2) }, owner: uid(1) }), {
    metadata: { name: 'a', uid: '<uid 2 of a>' },
    owner: '<uid of a>',
  })
})

t.test('values of a dry run are not counted', async (t) => {
  const normaliser = new Normaliser()
  const dry = normaliser.answer(answer({ metadata: { name: 'a', uid: uid(1) } }), { dryRun: true })
  t.strictSame(dry.body, { metadata: { name: 'a', uid: '<uid>' } })
  t.strictSame(bodyOf(normaliser, { metadata: { name: 'a', uid: uid(2) } }), { metadata: { name: 'a', uid: '<uid of a>' } })
})

t.test('versions of an object are counted, so that additional writes are detected', async (t) => {
  const version = (normaliser: Normaliser, resourceVersion: string): JsonValue => bodyOf(normaliser, { uid: uid(1), resourceVersion })
  const normaliser = new Normaliser()
  t.match(version(normaliser, '7'), { resourceVersion: '<version 1>' })
  t.match(version(normaliser, '7'), { resourceVersion: '<version 1>' })
  t.match(version(normaliser, '9'), { resourceVersion: '<version 2>' })
  t.match(version(new Normaliser({ countVersions: false }), '9'), { resourceVersion: '<version>' })
})

t.test('generated names are replaced, also within texts', async (t) => {
  const normaliser = new Normaliser()
  bodyOf(normaliser, { generateName: 'gen-', name: 'gen-x7k2p' })
  t.equal(bodyOf(normaliser, 'configmaps "gen-x7k2p" not found'), 'configmaps "gen-<random>" not found')
  t.equal(bodyOf(normaliser, 'gen-aaaaa'), 'gen-aaaaa')
  normaliser.expectNamesFrom('A_')
  t.equal(bodyOf(normaliser, 'Invalid value: "A_bcdfg"'), 'Invalid value: "A_<random>"')
})

t.test('causes are sorted and unique, also in the message', async (t) => {
  const causes = [
    { field: 'b', message: 'is bad' },
    { field: 'a', message: 'is worse' },
    { field: 'b', message: 'is bad' },
  ]
  const status = (message: string): JsonValue => ({ kind: 'Status', message, details: { causes } })
  t.match(bodyOf(new Normaliser(), status('Pod "x" is invalid: [b: is bad, a: is worse]')), {
    message: 'Pod "x" is invalid: [a: is worse, b: is bad]',
    details: { causes: [{ field: 'a' }, { field: 'b' }, { field: 'b' }] },
  })
  t.match(bodyOf(new Normaliser(), status('Pod "x" is invalid: [b, a]')), { message: 'Pod "x" is invalid: [b, a]' })
})

t.test('managedFields are sorted', async (t) => {
  const entries = [
    { operation: 'Update', manager: 'b' },
    { operation: 'Apply', manager: 'c' },
    { operation: 'Update', manager: 'a' },
  ]
  t.strictSame(bodyOf(new Normaliser(), { managedFields: entries }), { managedFields: [entries[1]!, entries[2]!, entries[0]!] })
})

t.test('rules of a SelfSubjectRulesReview are sorted', async (t) => {
  const rules = [{ verbs: ['list'] }, { verbs: ['get'] }]
  t.strictSame(bodyOf(new Normaliser(), { resourceRules: rules }), { resourceRules: [rules[1]!, rules[0]!] })
})

t.test('headers without meaning for clients are dropped', async (t) => {
  const headers = { 'content-type': 'application/json', date: 'now', 'audit-id': uid(1), etag: '"x"', warning: '299 - "w"' }
  t.strictSame(new Normaliser().answer(answer({}, headers)), {
    status: 200,
    headers: { 'content-type': 'application/json', etag: '<etag>', warning: '299 - "w"' },
    body: {},
  })
})
