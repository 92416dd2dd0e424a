import { readdirSync } from 'node:fs'
import t from 'tap'
import type { Test } from 'tap'
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
import { finished, repository } from '../support/process/process.ts'
import { recordingLogger } from '../support/recording-logger.ts'

const kind = defineKind({ group: 'example.com', kind: 'Thing', versions: [{ name: 'v1', spec: Type.Object({}) }] })
const operator = defineOperator({ name: 'thing', kinds: [kind], webhooks: [defineWebhook(kind, { validate: () => [] })] })

/** Returns the path of an empty folder. Until the end of the test, this process creates its temporary files in this folder. */
function temporaryFolder(t: Test): string {
  const folder = t.testdir()
  const { TMPDIR } = process.env
  process.env.TMPDIR = folder
  t.teardown(() => (TMPDIR === undefined ? delete process.env.TMPDIR : (process.env.TMPDIR = TMPDIR)))
  return folder
}

t.test('the certificates of an operator are deleted with it', async (t) => {
  const controlPlane = await startControlPlane()
  t.teardown(() => controlPlane.stop())
  const folder = temporaryFolder(t)
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
  const folder = temporaryFolder(t)
  await t.rejects(controlPlane.startOperator([reconciling], { connection }), { code: 'PRO_PERMISSION' })
  t.strictSame(readdirSync(folder), [])
})

t.test('an operator logs with the logger of the control plane, unless it has its own', async (t) => {
  const ofControlPlane = recordingLogger()
  const controlPlane = await startControlPlane({ controllers: false, logger: ofControlPlane.logger })
  t.teardown(() => controlPlane.stop())
  const own = recordingLogger()
  const first = await controlPlane.startOperator([operator], { logger: own.logger })
  await first.stop()
  t.ok(own.lines.includes('info: stopped'))
  t.notOk(ofControlPlane.lines.includes('info: stopped'))
  const second = await controlPlane.startOperator([operator])
  await second.stop()
  t.ok(ofControlPlane.lines.includes('info: stopped'))
})

t.test('without a logger, the errors of reconciles are printed on standard error as text', async (t) => {
  const script = `
    import { core, defineController, defineOperator } from 'proreus'
    import { startControlPlane } from 'proreus/testing'
    const called = Promise.withResolvers()
    const reconcile = () => {
      called.resolve()
      throw new Error('the quota is missing')
    }
    const operator = defineOperator({ name: 'a', kinds: [], controllers: [defineController(core.configMap, { reconcile })] })
    const controlPlane = await startControlPlane({ controllers: false })
    await controlPlane.startOperator([operator])
    await controlPlane.client.create(core.configMap, { metadata: { namespace: 'default', name: 'b' } })
    await called.promise
    await controlPlane.stop()
  `
  const { code, stderr } = await finished(process.execPath, ['--conditions=proreus-source', '--input-type=module', '--eval', script], {
    cwd: repository,
  })
  t.equal(code, 0, stderr)
  t.match(
    stderr,
    /^\[[\d:.]+\] ERROR .*: the reconcile failed and is tried again .*"controller":"configmap"[^]*"message": "the quota is missing"/m,
  )
  t.notMatch(stderr, /INFO|WARN/)
})
