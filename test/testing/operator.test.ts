import { readdirSync } from 'node:fs'
import t from 'tap'
import { defineKind } from '../../src/api/kind.ts'
import { Type } from '../../src/api/type.ts'
import { defineOperator } from '../../src/manager/operator.ts'
import { startControlPlane } from '../../src/testing/control-plane.ts'
import { defineWebhook } from '../../src/webhook/definition.ts'

const kind = defineKind({ group: 'example.com', kind: 'Thing', versions: [{ name: 'v1', spec: Type.Object({}) }] })
const operator = defineOperator({ name: 'thing', kinds: [kind], webhooks: [defineWebhook(kind, { validate: () => [] })] })

t.test('the certificates of an operator go with it', async (t) => {
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
