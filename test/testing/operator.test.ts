import { readdirSync } from 'node:fs'
import t from 'tap'
import { validatingWebhookConfiguration } from '../../src/api/builtin.ts'
import { defineKind } from '../../src/api/kind.ts'
import type { PolicyRule } from '../../src/api/policy-rule.ts'
import { Type } from '../../src/api/type.ts'
import { defineController } from '../../src/controller/builder.ts'
import { namesOf } from '../../src/manager/installation-names.ts'
import { defineOperator } from '../../src/manager/operator.ts'
import { managerRole } from '../../src/manifests/rbac.ts'
import { startControlPlane } from '../../src/testing/control-plane.ts'
import { rulesOfOperators } from '../../src/testing/operator.ts'
import { defineWebhook } from '../../src/webhook/definition/definition.ts'
import { recordingLogger } from '../support/recording-logger.ts'

const kind = defineKind({ group: 'example.com', kind: 'Thing', versions: [{ name: 'v1', spec: Type.Object({}) }] })
const operator = defineOperator({ name: 'thing', kinds: [kind], webhooks: [defineWebhook(kind, { validate: () => [] })] })

t.test('the certificates of an operator are deleted with it', async (t) => {
  const controlPlane = await startControlPlane()
  t.teardown(() => controlPlane.stop())
  const folder = t.testdir()
  const { TMPDIR } = process.env
  process.env.TMPDIR = folder
  t.teardown(() => (TMPDIR === undefined ? delete process.env.TMPDIR : (process.env.TMPDIR = TMPDIR)))
  const started = await controlPlane.startOperator([operator])
  t.equal(readdirSync(folder).length, 1)
  await started.stop()
  t.strictSame(readdirSync(folder), [])
})

t.test('the rules of operators are those of the generated role of their installation', (t) => {
  const other = defineOperator({ name: 'other', kinds: [], rbac: [{ apiGroups: ['apps'], resources: ['deployments'], verbs: ['get'] }] })
  const namesIn = (rules: readonly PolicyRule[]): unknown => rules.find(({ resourceNames }) => resourceNames !== undefined)!.resourceNames
  t.strictSame(rulesOfOperators([operator]), managerRole([operator], namesOf('thing'))['rules'])
  t.strictSame(rulesOfOperators([operator, other]), managerRole([operator, other], namesOf('test'))['rules'])
  t.strictSame(namesIn(rulesOfOperators([operator, other], 'mine')), ['mine-mutating', 'mine-validating'])
  t.end()
})

t.test('an operator runs as the given user, in the given namespaces, under its own name', async (t) => {
  const controlPlane = await startControlPlane({
    namespaces: ['a'],
    users: [{ name: 'limited', rules: rulesOfOperators([operator], 'mine') }],
  })
  t.teardown(() => controlPlane.stop())
  const { logger, entries } = recordingLogger()
  const connection = controlPlane.connectionFor('limited')
  const started = await controlPlane.startOperator([operator], { name: 'mine', connection, namespaces: ['a'], logger })
  t.match(started.endpoints, {
    webhook: { url: /^https:\/\/127\.0\.0\.1:\d+$/ },
    probes: { host: '127.0.0.1' },
    metrics: { host: '127.0.0.1' },
  })
  const { items } = await controlPlane.client.list(validatingWebhookConfiguration)
  t.strictSame(items.map(({ metadata }) => metadata.name), ['mine-validating']) // prettier-ignore
  t.ok((await controlPlane.requests()).some(({ user, path }) => user === 'limited' && path.endsWith('/mine-validating')))
  await started.stop()
  await t.resolves(started.ended)
  t.ok(entries.some(({ msg }) => msg === 'stopped'))
})

t.test('a failed start leaves nothing, and throws the reason', async (t) => {
  const controlPlane = await startControlPlane({ users: [{ name: 'nobody', rules: [] }], controllers: false })
  t.teardown(() => controlPlane.stop())
  const reconciling = defineOperator({
    name: 'thing',
    kinds: [kind],
    controllers: [defineController(kind, { reconcile: async () => undefined })],
  })
  const connection = controlPlane.connectionFor('nobody')
  await t.rejects(controlPlane.startOperator([reconciling], { connection }), { code: 'PRO_PERMISSION' })
})
