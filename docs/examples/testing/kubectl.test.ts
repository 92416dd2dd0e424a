import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { core } from 'proreus'
import { startControlPlane } from 'proreus/testing'

const run = promisify(execFile)

test('kubectl sees what a person would see', async (t) => {
  const controlPlane = await startControlPlane({ controllers: false, namespaces: ['test'] })
  t.after(() => controlPlane.stop())
  const kubectl = async (...args: string[]): Promise<string> => {
    const env = { ...process.env, KUBECONFIG: controlPlane.kubeconfig }
    return (await run('kubectl', args, { env })).stdout
  }
  await controlPlane.client.create(core.configMap, { metadata: { namespace: 'test', name: 'greeting' }, data: { said: 'hi' } })
  assert.match(await kubectl('get', 'configmaps', '--namespace=test'), /^NAME +DATA +AGE\ngreeting +1 /)
  const asReader = kubectl('get', 'configmaps', '--namespace=test', '--as=system:serviceaccount:test:default')
  await assert.rejects(asReader, /cannot list resource "configmaps"/)
})
