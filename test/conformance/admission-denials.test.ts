/** Tests of the API server's responses to a client when a webhook denies the request or returns warnings. */
import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import type { RawAnswer } from '../support/conformance/api-request.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import { admissionWorld, configMaps, webhookOf } from '../support/conformance/admission.ts'
import { kubectlAs } from '../support/devcluster/kubectl.ts'
import { needsKubectl } from '../support/process/process.ts'
import { conformanceControlPlane, needsOwnControlPlane } from '../support/conformance/backends.ts'

const namespace = 'conformance-admission-denials'
const controlPlane = await conformanceControlPlane(t, { controllers: false, namespaces: [namespace] })
const api = apiOf(t, controlPlane.connection)
const { server, configure } = await admissionWorld(t, api, namespace)

/** Creates a ConfigMap with `dryRun=All`. */
function create(): Promise<RawAnswer> {
  return api('POST', `/api/v1/namespaces/${namespace}/configmaps?dryRun=All`, { body: { metadata: { name: 'a' } } })
}

function deny(status?: JsonObject): void {
  server.answer('deny', { allowed: false, ...(status === undefined ? {} : { status }) })
}

const prefix = 'admission webhook "deny.conformance.example.com" denied the request'
const cause = (reason: string, field: string, message: string): JsonObject => ({ reason, message, field })
const invalidSize = cause('FieldValueInvalid', 'spec.size', 'Invalid value: 0: must be positive')
const missingColor = cause('FieldValueRequired', 'spec.color', 'Required value')
const details = { name: 'a', group: 'example.com', kind: 'Widget', causes: [invalidSize, missingColor] }

const denials: readonly { status?: JsonObject; expected: JsonObject; retryAfter?: string }[] = [
  { expected: { message: `${prefix} without explanation`, code: 400 } },
  { status: {}, expected: { message: `${prefix} without explanation`, code: 400 } },
  { status: { code: 403 }, expected: { message: `${prefix} without explanation`, code: 403 } },
  { status: { message: 'no' }, expected: { message: `${prefix}: no`, code: 400 } },
  { status: { code: 403, message: 'no', reason: 'Forbidden' }, expected: { message: `${prefix}: no`, reason: 'Forbidden', code: 403 } },
  { status: { reason: 'Quota' }, expected: { message: `${prefix}: Quota`, reason: 'Quota', code: 400 } },
  { status: { code: 200, status: 'Success', message: 'fine' }, expected: { message: `${prefix}: fine`, code: 400 } },
  { status: { code: 399 }, expected: { message: `${prefix} without explanation`, code: 400 } },
  { status: { code: -1 }, expected: { message: `${prefix} without explanation`, code: 400 } },
  { status: { code: 599, message: 'no' }, expected: { message: `${prefix}: no`, code: 599 } },
  {
    status: { code: 409, reason: 'Conflict', message: 'one\ntwo "three"' },
    expected: { message: `${prefix}: one\ntwo "three"`, reason: 'Conflict', code: 409 },
  },
  { status: { code: 403, status: 'Odd', message: 'no' }, expected: { status: 'Odd', message: `${prefix}: no`, code: 403 } },
  {
    status: { code: 422, reason: 'Invalid', message: 'two problems', details },
    expected: { message: `${prefix}: two problems`, reason: 'Invalid', details, code: 422 },
  },
  {
    status: { code: 429, reason: 'TooManyRequests', message: 'later', details: { retryAfterSeconds: 7 } },
    expected: { message: `${prefix}: later`, reason: 'TooManyRequests', details: { retryAfterSeconds: 7 }, code: 429 },
    retryAfter: '7',
  },
  {
    status: {
      code: 403,
      message: 'no',
      metadata: { resourceVersion: '7', other: 1 },
      other: 1,
      details: { other: 1, uid: 'x', causes: [{ other: 1 }] },
    },
    expected: { metadata: { resourceVersion: '7' }, message: `${prefix}: no`, details: { uid: 'x', causes: [{}] }, code: 403 },
  },
  {
    status: { code: 403, message: '', reason: '', details: {} },
    expected: { message: `${prefix} without explanation`, details: {}, code: 403 },
  },
]

t.test('a denial has the message, code, reason and details of the webhook', needsOwnControlPlane, async (t) => {
  for (const type of ['mutating', 'validating'] as const)
    await t.test(type, async (t) => {
      await configure(t, type, 'denying', [webhookOf(server, 'deny', configMaps)])
      for (const { status, expected, retryAfter } of denials) {
        deny(status)
        const answer = await create()
        const whole = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', ...expected }
        t.strictSame(answer.body, whole, JSON.stringify(status))
        t.equal(answer.status, answer.body.code)
        t.equal(answer.headers['retry-after'], retryAfter)
      }
    })
})

t.test('the first denial is returned, and that of a mutating webhook ends the request', needsOwnControlPlane, async (t) => {
  await configure(t, 'mutating', 'two', [webhookOf(server, 'deny', configMaps), webhookOf(server, 'later', configMaps)])
  await configure(t, 'validating', 'three', [webhookOf(server, 'last', configMaps)])
  deny({ message: 'first' })
  t.equal((await create()).body.message, `${prefix}: first`)
  t.strictSame(
    server.take().map(({ path }) => path),
    ['deny'],
  )
})

t.test('kubectl prints a denial and the causes of an invalid object', { ...needsKubectl, ...needsOwnControlPlane }, async (t) => {
  const kubectl = kubectlAs(t, controlPlane.kubeconfig)
  await configure(t, 'validating', 'denying', [webhookOf(server, 'deny', configMaps)])
  const about = { name: 'a', kind: 'ConfigMap' }
  const error = `error when creating "STDIN": ${prefix}`
  const cases: { status?: JsonObject; stderr: string }[] = [
    { stderr: `Error from server: ${error} without explanation` },
    { status: { code: 403, reason: 'Forbidden', message: 'one\ntwo' }, stderr: `Error from server (Forbidden): ${error}: one\ntwo` },
    {
      status: { code: 422, reason: 'Invalid', message: 'bad', details: { ...about, causes: [invalidSize] } },
      stderr: 'The ConfigMap "a" is invalid: spec.size: Invalid value: 0: must be positive',
    },
    {
      status: { code: 422, reason: 'Invalid', message: 'bad', details: { ...about, causes: [invalidSize, missingColor] } },
      stderr: 'The ConfigMap "a" is invalid: \n* spec.size: Invalid value: 0: must be positive\n* spec.color: Required value',
    },
    { status: { code: 422, reason: 'Invalid', message: 'bad', details: about }, stderr: 'The ConfigMap "a" is invalid' },
    {
      status: { code: 422, reason: 'Invalid', message: 'bad', details: { causes: [invalidSize] } },
      stderr: 'The request is invalid: spec.size: Invalid value: 0: must be positive',
    },
    { status: { code: 422, reason: 'Invalid', message: 'bad' }, stderr: `The request is invalid: ${error}: bad` },
    { status: { code: 500, reason: 'InternalError', message: 'oops' }, stderr: `Error from server (InternalError): ${error}: oops` },
    { status: { code: 418, message: 'teapot' }, stderr: `Error from server: ${error}: teapot` },
  ]
  const input = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace } })
  for (const { status, stderr } of cases) {
    deny(status)
    t.strictSame(await kubectl('create -f -', input), { code: 1, stdout: '', stderr: `${stderr}\n` }, JSON.stringify(status))
  }
})

t.test('warnings reach the client, each once and truncated when they are too long together', needsOwnControlPlane, async (t) => {
  await configure(t, 'mutating', 'warning', [webhookOf(server, 'one', configMaps)])
  await configure(t, 'validating', 'warning', [webhookOf(server, 'two', configMaps)])
  const many = (count: number, length: number) => Array.from({ length: count }, (_, index) => `${index} ${'w'.repeat(length)}`)
  const cases: { one: readonly string[]; two?: readonly string[]; shown: readonly string[] }[] = [
    { one: ['a', 'b', '', 'a'], two: ['b', 'c'], shown: ['a', 'b', 'c'] },
    { one: ['a "quoted" \\ text', 'größer ✓'], shown: ['a "quoted" \\ text', 'größer ✓'] },
    { one: ['a line\nbreak', 'a tab\t', 'a nul\u0000', 'del\u007f', 'good'], shown: ['good'] },
    { one: ['a'.repeat(4096)], shown: ['a'.repeat(4096)] },
    { one: ['a'.repeat(4097)], shown: ['a'.repeat(256)] },
    {
      one: ['a'.repeat(3000)],
      two: ['b'.repeat(1000), 'c'.repeat(300)],
      shown: ['a'.repeat(256), 'b'.repeat(256), 'c'.repeat(256)],
    },
    { one: ['ä'.repeat(300), 'b'.repeat(4000)], shown: ['ä'.repeat(256), 'b'.repeat(256)] },
    { one: many(30, 300), two: ['last'], shown: many(16, 300).map((text) => text.slice(0, 256)) },
    { one: many(20, 198), two: ['last'], shown: [...many(20, 198), 'last'] },
  ]
  for (const allowed of [true, false])
    for (const { one, two = [], shown } of cases) {
      server.answer('one', { allowed: true, warnings: [...one] })
      server.answer('two', { allowed, warnings: [...two] })
      const answer = await create()
      t.equal(answer.status, allowed ? 201 : 400)
      // The headers are encoded in UTF-8, but Node.js decodes them as Latin-1.
      const warnings = answer.warnings.map((text) => Buffer.from(text, 'latin1').toString('utf8'))
      t.strictSame(warnings, shown, JSON.stringify(one).slice(0, 60))
    }
  server.answer('one', { allowed: false, warnings: ['a'] })
  t.strictSame((await create()).warnings, ['a'])
})
