import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { rulesOfOperators, startControlPlane, until } from 'proreus/testing'
import type { ControlPlane } from 'proreus/testing'
import { operator } from '../hello.ts'

const hellos = '/apis/example.com/v1/namespaces/test/hellos'

let controlPlane: ControlPlane
before(async () => {
  const serviceAccounts = [{ name: 'system/hello', rules: rulesOfOperators([operator]) }]
  controlPlane = await startControlPlane({ namespaces: ['system', 'test'], serviceAccounts })
  await controlPlane.startOperator([operator], { connection: controlPlane.connectionFor({ serviceAccount: 'system/hello' }) })
})
after(() => controlPlane.stop())

/** Resolves to the verbs and paths of the operator's writes in the namespace of the test, without duplicates. */
async function writes(): Promise<Set<string>> {
  const requests = (await controlPlane.requests()).filter(({ user }) => user === 'system:serviceaccount:system:hello')
  const writing = requests.filter(({ verb, path }) => !['get', 'list', 'watch'].includes(verb) && path.includes('/namespaces/test/'))
  return new Set(writing.map(({ verb, path }) => `${verb} ${path}`))
}

test('a Hello is one ConfigMap and a status, and nothing else is written', async () => {
  const body = { apiVersion: 'example.com/v1', kind: 'Hello', metadata: { name: 'world' }, spec: { message: 'hi' } }
  await controlPlane.client.raw(hellos, { method: 'POST', body })
  await until('the status is written', async () => (await writes()).has(`patch ${hellos}/world/status`))
  assert.deepEqual(await writes(), new Set(['patch /api/v1/namespaces/test/configmaps/world', `patch ${hellos}/world/status`]))
})
